import RecordModel
import StorageContract
import Testing

@testable import RecordStore

/// Which records get entries of new indexes, and where those of dropped ones go, a piece at a time.
struct IndexWorkTests {
    private static let environment = EnvironmentID(rawValue: 1)
    private static let zone = ZoneKey(database: DatabaseID(rawValue: 1), number: 4)
    private let rows = HousekeepingModel()
    private var tables: MemoryTables { self.rows.double.tables }
    private let note: Int64
    private let task: Int64

    init() throws {
        let tables = self.rows.double.tables
        self.note = try tables.insert(RecordTypeRow(environment: Self.environment, name: "Note"))
        self.task = try tables.insert(RecordTypeRow(environment: Self.environment, name: "Task"))
        try self.define("n", of: self.note, index: 1)
        try self.define("m", of: self.note, index: 2)
        try self.define("n", of: self.task, index: 3)
    }

    private func define(_ field: String, of type: Int64, index: Int64) throws {
        let definition = FieldDefinition(
            type: .int64,
            isEncrypted: false,
            indexes: .queryable,
            index: index
        )
        _ = try self.tables.insert(FieldRow(definition, named: field, of: type))
    }

    private func build(_ next: [Int64: Int64]) throws {
        for (index, next) in next {
            try self.tables.put(IndexBuildRow(index: index, nextRecord: next))
        }
    }

    /// The next record of each index that is not complete.
    private func builds() throws -> [Int64: Int64] {
        let rows = try self.tables.rows(RowRange(IndexBuildRow.byKey))
        return Dictionary(uniqueKeysWithValues: rows.map { ($0.index, $0.nextRecord) })
    }

    private func addRecords(_ numbers: ClosedRange<Int64>, type: Int64) {
        for number in numbers {
            let record = StoredRecord(
                number: number,
                recordType: type == self.note ? "Note" : "Task",
                position: number,
                system: SystemFields(
                    createdMilliseconds: 1,
                    modifiedMilliseconds: 1,
                    createdBy: "",
                    modifiedBy: ""
                ),
                parent: nil,
                body: RecordBody([
                    Field(name: "m", value: .int64(number)), Field(name: "n", value: .int64(number)),
                ])
            )
            self.rows.records.append(
                IndexedRecords.Element(
                    key: RecordKey(zone: Self.zone, number: number),
                    type: type,
                    name: "r\(number)",
                    record: record
                )
            )
        }
    }

    // MARK: Filling

    @Test func `a piece ends with the record with which it has many entries`() throws {
        let list = FieldDefinition(type: .int64List, isEncrypted: false, indexes: .queryable, index: 4)
        _ = try self.tables.insert(FieldRow(list, named: "l", of: self.note))
        self.addRecords(1...5, type: self.note)
        for offset in self.rows.records.indices {
            let record = self.rows.records[offset].record
            let numbers = FieldValue.int64List((0..<1_500).map { $0 })
            let body = RecordBody([Field(name: "l", value: numbers)])
            self.rows.records[offset].record = record.with(body: body)
        }
        try self.build([4: 0])
        var builder = IndexBuilder()
        for next in [3, 5] as [Int64] {
            #expect(try !builder.step(isAlone: false, in: self.rows))
            #expect(try self.builds() == [4: next])
        }
        #expect(try !builder.step(isAlone: true, in: self.rows))
        #expect(try self.builds() == [:])
        #expect(self.rows.entries.count == 5 && self.rows.entries.allSatisfy { $0.value.count == 1_500 })
        #expect(try builder.step(isAlone: true, in: self.rows))
        #expect(builder.takeEvents().last == .indexesBuilt(indexes: 1, records: 5))
    }

    @Test func `records are read from the lowest number on, fewer while somebody waits`() throws {
        self.addRecords(1...250, type: self.note)
        try self.build([1: 0])
        var builder = IndexBuilder()
        #expect(try !builder.step(isAlone: false, in: self.rows))
        #expect(builder.takeEvents() == [.indexesIncomplete(indexes: 1)])
        #expect(try self.builds() == [1: 101] && self.rows.entries.count == 100)
        #expect(try !builder.step(isAlone: true, in: self.rows))
        #expect(try self.builds() == [:] && self.rows.entries.count == 250)
        #expect(self.rows.entries.allSatisfy { $0.value.map(\.index) == [1] }, "and no other index")
        #expect(try builder.step(isAlone: true, in: self.rows))
        #expect(builder.takeEvents() == [.indexesBuilt(indexes: 1, records: 250)])
        #expect(try builder.step(isAlone: true, in: self.rows))
        #expect(builder.takeEvents() == [])
        #expect(self.rows.pieces.map(\.from) == [0, 101])
        #expect(self.rows.pieces.map(\.bounds.records) == [100, 1_000])
        #expect(self.rows.pieces.map(\.bounds.others) == [1_000, 10_000])
    }

    @Test func `indexes that are as far as one another are filled by one pass`() throws {
        self.addRecords(1...40, type: self.note)
        self.addRecords(41...60, type: self.task)
        try self.build([1: 0, 2: 30, 3: 30])
        var builder = IndexBuilder()
        #expect(try !builder.step(isAlone: true, in: self.rows))
        #expect(try self.builds() == [1: 30, 2: 30, 3: 30], "up to where the others stand")
        #expect(try !builder.step(isAlone: true, in: self.rows))
        #expect(try self.builds() == [:])
        #expect(try builder.step(isAlone: true, in: self.rows))
        #expect(self.rows.pieces.map(\.below) == [30, nil])
        #expect(self.rows.entries[29]?.map(\.index) == [1])
        #expect(Set(self.rows.entries[30]?.map(\.index) ?? []) == [1, 2])
        #expect(self.rows.entries[41]?.map(\.index) == [3])
        #expect(
            builder.takeEvents() == [
                .indexesIncomplete(indexes: 3), .indexesBuilt(indexes: 3, records: 60),
            ]
        )
    }

    @Test func `an index whose number another type took after a rollback is filled for that type`() throws {
        self.addRecords(1...200, type: self.note)
        self.addRecords(201...400, type: self.task)
        try self.build([1: 0])
        var builder = IndexBuilder()
        #expect(try !builder.step(isAlone: false, in: self.rows))
        for row in try self.tables.rows(RowRange(FieldRow.byKey)) where row.index != nil {
            try self.tables.delete(row)
        }
        try self.define("n", of: self.task, index: 1)
        while try !builder.step(isAlone: true, in: self.rows) {}
        #expect((201...400).allSatisfy { self.rows.entries[$0]?.map(\.index) == [1] })
        #expect(self.rows.entries[150] == nil)
    }

    @Test func `an index without a field has nothing to be filled with`() throws {
        self.addRecords(1...10, type: self.note)
        try self.build([77: 0])
        var builder = IndexBuilder()
        #expect(try !builder.step(isAlone: true, in: self.rows))
        #expect(try self.builds() == [:] && self.rows.pieces.isEmpty)
    }

    // MARK: Emptying

    @Test func `entries of a dropped index go zone by zone, a thousand at a time`() throws {
        let zones = ["a", "b", "c"].enumerated().map { offset, name in
            ZoneRow(database: Self.zone.database, name: name, number: Int64(offset + 1))
        }
        for zone in zones { try self.tables.put(zone) }
        func key(_ offset: Int) -> ZoneKey {
            ZoneKey(database: Self.zone.database, number: zones[offset].number)
        }
        self.rows.indexEntries = [key(0): [9: 400, 8: 5], key(1): [9: 1_100], key(2): [9: 1]]
        try self.tables.put(
            IndexRemovalRow(index: 9, database: DatabaseID(rawValue: 0), zoneName: "")
        )
        #expect(try !IndexRemoval.step(in: self.rows))
        #expect(self.rows.indexEntries == [key(0): [9: 0, 8: 5], key(1): [9: 500], key(2): [9: 1]])
        let row = try #require(try self.tables.row(IndexRemovalRow.byKey, Int64(9)))
        #expect(row.database == Self.zone.database && row.zoneName == "b")
        #expect(try !IndexRemoval.step(in: self.rows))
        #expect(self.rows.indexEntries == [key(0): [9: 0, 8: 5], key(1): [9: 0], key(2): [9: 0]])
        let bytes = HousekeepingModel.entryBytes
        #expect(
            self.rows.double.zoneBytes == [key(0): -400 * bytes, key(1): -1_100 * bytes, key(2): -bytes]
        )
        #expect(try IndexRemoval.step(in: self.rows))
    }

    @Test func `a removal looks at a hundred zones at a time`() throws {
        for number in 0..<150 {
            let name = String(number + 1_000)
            try self.tables.put(
                ZoneRow(database: Self.zone.database, name: name, number: Int64(number + 1))
            )
        }
        self.rows.indexEntries = [ZoneKey(database: Self.zone.database, number: 150): [9: 3]]
        try self.tables.put(
            IndexRemovalRow(index: 9, database: DatabaseID(rawValue: 0), zoneName: "")
        )
        #expect(try !IndexRemoval.step(in: self.rows))
        let row = try #require(try self.tables.row(IndexRemovalRow.byKey, Int64(9)))
        #expect(row.zoneName == "1099")
        #expect(try !IndexRemoval.step(in: self.rows))
        #expect(try IndexRemoval.step(in: self.rows))
        #expect(self.rows.indexEntries.values.allSatisfy { $0[9] == 0 })
    }
}
