import RecordModel
import StorageContract

/// Fills new indexes, a piece in each transaction.
///
/// Every save keeps an index from the moment that it has a number, so only earlier records are
/// left. They are read in the order of their numbers, and how far that got is in a row. All indexes
/// that are as far as one another are filled by one pass.
struct IndexBuilder {
    /// Maximum number of records that one transaction indexes while requests wait, and while none
    /// does.
    static let recordsMax = 100
    static let recordsAloneMax = 1_000
    /// Entries that one transaction adds, those of its last record aside.
    static let entriesMax = 2_000
    static let entriesAloneMax = 20_000
    /// Records that a piece may pass over, for each one that it indexes.
    static let othersFactor = 10
    static let bodyBytesMax = 1024 * 1024
    /// Maximum number of damaged records of a pass that are reported to the operator.
    static let damagedMax = 100

    /// Indexes that are least far.
    private struct Build {
        var rows: [IndexBuildRow]
        /// Records below it are done.
        let next: Int64
        /// The record that the next of the other indexes has reached; `nil` if there is no other.
        let end: Int64?

        var indexes: Set<Int64> { Set(self.rows.map(\.index)) }
    }

    /// Events for the operator, once the transaction is durable.
    private var events: [EngineEvent] = []
    /// Indexes of the pass, and records that were read for it since the start of the process.
    ///
    /// It is `nil` if there is no pass.
    private var pass: (indexes: Int, records: Int)?
    /// The number of damaged records of the pass that were reported.
    private var damagedCount = 0
    /// The numbers of types by those of their indexes, as far as the pass knows them.
    private var types: [Int64: Int64] = [:]

    /// Hands out what happened since the last call.
    mutating func takeEvents() -> [EngineEvent] {
        defer { self.events = [] }
        return self.events
    }

    /// Indexes some records.
    ///
    /// - Returns: Whether there was nothing left.
    mutating func step(
        isAlone: Bool,
        in rows: some HousekeepingTransaction
    ) throws(StorageFailure) -> Bool {
        guard let build = try self.leastBuild(in: rows.transaction) else {
            if let pass = self.pass {
                self.events.append(.indexesBuilt(indexes: pass.indexes, records: pass.records))
            }
            self.pass = nil
            self.damagedCount = 0
            self.types = [:]
            return true
        }
        let definitions = try self.definitions(of: build.indexes, in: rows.transaction)
        var next: Int64?
        if !definitions.isEmpty {
            next = try self.fill(build, definitions, isAlone: isAlone, in: rows)
        }
        if let next = next ?? build.end {
            for var row in build.rows {
                row.nextRecord = next
                try rows.transaction.put(row)
            }
        } else {
            for row in build.rows { try rows.transaction.delete(row) }
        }
        return false
    }

    private mutating func leastBuild(
        in transaction: any TableReader
    ) throws(StorageFailure) -> Build? {
        let rows = try transaction.rows(RowRange(IndexBuildRow.byKey))
        guard let next = rows.map(\.nextRecord).min() else { return nil }
        var pass = self.pass ?? (indexes: 0, records: 0)
        if self.pass == nil { self.events.append(.indexesIncomplete(indexes: rows.count)) }
        pass.indexes = max(pass.indexes, rows.count)
        self.pass = pass
        return Build(
            rows: rows.filter { $0.nextRecord == next },
            next: next,
            end: rows.map(\.nextRecord).filter { $0 > next }.min()
        )
    }

    /// By the number of each type that has one of the indexes: its fields, with these indexes and
    /// no others.
    private mutating func definitions(
        of indexes: Set<Int64>,
        in transaction: any WriteTransaction
    ) throws(StorageFailure) -> [Int64: FieldDefinitions] {
        let known = try self.knownDefinitions(of: indexes, in: transaction)
        let found = known.values.flatMap { $0.all.values.compactMap(\.index) }
        if indexes.isSubset(of: found) { return known }
        // A number is taken once, unless the transaction that took it was rolled back.
        self.types = [:]
        for field in try transaction.rows(RowRange(FieldRow.byKey)) {
            if let index = field.index { self.types[index] = field.recordType }
        }
        return try self.knownDefinitions(of: indexes, in: transaction)
    }

    private func knownDefinitions(
        of indexes: Set<Int64>,
        in transaction: any WriteTransaction
    ) throws(StorageFailure) -> [Int64: FieldDefinitions] {
        var definitions: [Int64: FieldDefinitions] = [:]
        for number in Set(indexes.compactMap { self.types[$0] }) {
            guard let type = try transaction.row(RecordTypeRow.byKey, number) else { continue }
            let stored = try transaction.types(named: [type.name], in: type.environment)[0]
            definitions[number] = stored?.fields.keeping(indexes: indexes)
        }
        return definitions
    }

    /// Returns where to go on, or `nil` if all records were read.
    private mutating func fill(
        _ build: Build,
        _ definitions: [Int64: FieldDefinitions],
        isAlone: Bool,
        in rows: some HousekeepingTransaction
    ) throws(StorageFailure) -> Int64? {
        let recordsMax = isAlone ? Self.recordsAloneMax : Self.recordsMax
        var entriesLeft = isAlone ? Self.entriesAloneMax : Self.entriesMax
        var piece = try rows.indexedRecords(
            ofTypes: Set(definitions.keys),
            from: build.next,
            below: build.end,
            bounds: IndexedRecords.Bounds(
                records: recordsMax,
                bytes: Self.bodyBytesMax,
                others: recordsMax * Self.othersFactor
            )
        )
        var entries: [RecordEntries] = []
        for (offset, element) in piece.records.enumerated() {
            guard entriesLeft > 0 else {
                piece.next = element.key.number
                piece.records.removeSubrange(offset...)
                break
            }
            guard let fields = definitions[element.type] else { continue }
            let changes = IndexChanges(
                from: nil,
                to: element.record,
                named: element.name,
                definitions: fields
            )
            entriesLeft -= changes.addedCost
            entries.append(RecordEntries(key: element.key, entries: changes.added))
        }
        try self.note(piece.records.filter(\.record.isDamaged), in: rows.transaction)
        try rows.add(entries)
        self.pass?.records += piece.records.count
        return piece.next
    }

    /// Tells the operator which records can't be indexed whole: the first of a pass, because a disk may
    /// have damaged all.
    private mutating func note(
        _ damaged: [IndexedRecords.Element],
        in transaction: any WriteTransaction
    ) throws(StorageFailure) {
        for element in damaged.prefix(Self.damagedMax - self.damagedCount) {
            self.damagedCount += 1
            guard let record = try element.damagedRecord(in: transaction) else { continue }
            self.events.append(.recordNotIndexed(record))
        }
    }
}

extension IndexedRecords.Element {
    /// Finds the location of the record; `nil` if the row that has it is missing.
    fileprivate func damagedRecord(in rows: any WriteTransaction) throws(StorageFailure) -> DamagedRecord? {
        guard let database = try rows.row(DatabaseRow.byKey, self.key.zone.database),
            let environment = try rows.row(EnvironmentRow.byKey, database.environment),
            let container = try rows.row(ContainerRow.byKey, environment.container),
            let zone = try rows.row(ZoneRow.byNumber, self.key.zone.database, self.key.zone.number)
        else { return nil }
        return DamagedRecord(
            container: container.identifier,
            scope: database.scope,
            zone: zone.name,
            owner: try rows.row(UserRow.byKey, database.owner)?.recordName ?? "",
            name: self.name
        )
    }
}
