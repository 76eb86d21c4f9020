import RecordModel
import StorageContract

/// One snapshot for a check, with what many rows ask for.
final class CheckedSnapshot {
    /// A record type by its number.
    struct CheckedType {
        let name: String
        /// The fields with the indexes that are complete.
        let fields: FieldDefinitions
    }

    let snapshot: any Snapshot
    /// Indexes without all their entries, and dropped ones that have some left.
    let incomplete: Set<Int64>
    private var types: [Int64: CheckedType?] = [:]
    private var authors: [Int64: String?] = [0: ""]
    private var histories: [EnvironmentID: HistoryRule]?

    init(_ snapshot: any Snapshot) throws(StorageFailure) {
        self.snapshot = snapshot
        let builds = try snapshot.rows(RowRange(IndexBuildRow.byKey)).map(\.index)
        let removals = try snapshot.rows(RowRange(IndexRemovalRow.byKey)).map(\.index)
        self.incomplete = Set(builds).union(removals)
    }

    /// `nil` if no type has the number.
    func type(_ number: Int64) throws(StorageFailure) -> CheckedType? {
        if let known = self.types[number] { return known }
        var found: CheckedType?
        if let row = try self.snapshot.row(RecordTypeRow.byKey, number) {
            let stored = try self.snapshot.types(named: [row.name], in: row.environment)[0]
            let fields = stored?.fields ?? FieldDefinitions()
            let whole = Set(fields.all.values.compactMap(\.index)).subtracting(self.incomplete)
            found = CheckedType(name: row.name, fields: fields.keeping(indexes: whole))
        }
        self.types.updateValue(found, forKey: number)
        return found
    }

    /// Reads the record names of users; those without a row have none.
    func readAuthors(_ numbers: Set<Int64>) throws(StorageFailure) {
        let unknown = numbers.filter { self.authors[$0] == nil }.sorted()
        guard !unknown.isEmpty else { return }
        for (number, row) in zip(unknown, try self.snapshot.rows(AuthorRow.byKey, keys: unknown)) {
            self.authors.updateValue(row?.recordName, forKey: number)
        }
    }

    /// `nil` if no user has the number, which was read before.
    func author(_ number: Int64) -> String? { self.authors[number] ?? nil }

    func history(of environment: EnvironmentID) throws(StorageFailure) -> HistoryRule? {
        if self.histories == nil { self.histories = try self.snapshot.storedHistories() }
        return self.histories?[environment]
    }

    /// The numbers of all indexes that a field has.
    func fieldIndexes() throws(StorageFailure) -> Set<Int64> {
        var indexes: Set<Int64> = []
        try self.snapshot.visit(RowRange(FieldRow.byKey)) { field in
            if let index = field.index { indexes.insert(index) }
        }
        return indexes
    }

    /// Records of a zone by number; `nil` where there is none.
    func records(_ numbers: [Int64], in zone: ZoneKey) throws(StorageFailure) -> [Int64: NamedRecord] {
        let list = self.snapshot.records(numbered: numbers, in: zone)
        var records: [Int64: NamedRecord] = [:]
        for (offset, number) in numbers.enumerated() { records[number] = try list.record(at: offset) }
        return records
    }

    /// Records of a zone by name, those that are there.
    func records(
        named names: Set<ExactName>,
        in zone: ZoneKey
    ) throws(StorageFailure)
        -> [ExactName: StoredRecord]
    {
        let names = names.sorted()
        let found = try self.snapshot.records(named: names.map(\.text), in: zone)
        var records: [ExactName: StoredRecord] = [:]
        for (name, record) in zip(names, found) { records[name] = record }
        return records
    }
}

/// A row of a record, as it is stored.
struct CheckedRecord {
    let number: Int64
    let name: String
    let type: Int64
    let position: Int64
    let createdPosition: Int64
    let created: Int64
    let modified: Int64
    let creator: Int64
    let modifier: Int64
    let parent: String?
    let body: RecordBody

    /// `nil` if the columns have other types.
    init?(_ row: [ColumnValue]) {
        func integer(_ column: Int) -> Int64? { Int64(columnValue: row[column]) }
        guard let number = integer(2), let name = String(columnValue: row[3]), let type = integer(4),
            let position = integer(5), let createdPosition = integer(6), let created = integer(7),
            let modified = integer(8), let creator = integer(9), let modifier = integer(10),
            let parent = String?(columnValue: row[11]), let body = [UInt8](columnValue: row[12])
        else { return nil }
        self.number = number
        self.name = name
        self.type = type
        self.position = position
        self.createdPosition = createdPosition
        self.created = created
        self.modified = modified
        self.creator = creator
        self.modifier = modifier
        self.parent = parent
        self.body = RecordBody(trusted: body)
    }

    /// The record with the names of its type and users; `nil` if a name is missing, or the row has
    /// something that no store wrote.
    func stored(_ checked: CheckedSnapshot) throws(StorageFailure) -> StoredRecord? {
        guard let type = try checked.type(self.type), let creator = checked.author(self.creator),
            let modifier = checked.author(self.modifier), self.createdPosition > 0,
            self.createdPosition <= self.position, self.body.isIntact
        else { return nil }
        return StoredRecord(
            number: self.number,
            recordType: type.name,
            position: self.position,
            system: SystemFields(
                createdMilliseconds: self.created,
                modifiedMilliseconds: self.modified,
                createdBy: creator,
                modifiedBy: modifier
            ),
            parent: self.parent,
            body: self.body
        )
    }
}
