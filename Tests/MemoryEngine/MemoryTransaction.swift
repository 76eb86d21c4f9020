import EngineThreads
import RecordModel
import StorageContract

/// A transaction: a copy of the contents that becomes the store's when it is committed, and is dropped
/// when it fails.
final class MemoryTransaction: ContentsReader, BatchTransaction {
    /// What a zone has more than its row says, and where its last change is.
    fileprivate struct ZoneGrowth {
        var position: Int64 = 0
        var records: Int64 = 0
        var recordBytes: Int64 = 0
        var rowBytes: Int64 = 0
    }

    /// What is written into the rows of databases and zones at the commit, and no earlier.
    fileprivate struct Growth {
        var positions: [DatabaseID: Int64] = [:]
        var databases: [DatabaseID: StoredAmount] = [:]
        var zones: [ZoneKey: ZoneGrowth] = [:]
    }

    /// The state to which a job that failed is taken back.
    private struct Savepoint {
        let contents: StoreContents
        let growth: Growth
        let report: CommitReport
    }

    let nowMilliseconds: Int64
    private(set) var memory: RuleMemory
    private(set) var positionsTaken = 0
    /// In the unit of the overload rule.
    var workDone = 0
    private(set) var report: CommitReport
    /// The positions of watched databases that somebody asked for or that were changed.
    private(set) var watchedPositions: [DatabaseID: Int64]
    private var growth = Growth()
    /// What all databases may have together; `nil` for no bound.
    private let bytesMax: Int64?

    init(
        _ contents: StoreContents,
        memory: RuleMemory = RuleMemory(),
        watched: [DatabaseID: EnvironmentID] = [:],
        watchedPositions: [DatabaseID: Int64] = [:],
        nowMilliseconds: Int64,
        bytesMax: Int64? = nil
    ) {
        self.nowMilliseconds = nowMilliseconds
        self.bytesMax = bytesMax
        self.memory = memory
        self.report = CommitReport(watched: watched)
        self.watchedPositions = watchedPositions
        super.init(contents)
    }

    func isolate(_ job: WriteJob) -> Result<WriteJob.Progress, JobFailure> {
        let savepoint = Savepoint(contents: self.contents, growth: self.growth, report: self.report)
        do throws(StorageFailure) {
            let progress = try self.execute(job)
            if job.makesRoom || self.bytesMax.map({ self.bytesStored() <= $0 }) ?? true {
                return .success(progress)
            }
            self.takeBack(to: savepoint)
            return .failure(.diskFull)
        } catch {
            self.takeBack(to: savepoint)
            return .failure(.storage(error))
        }
    }

    private func takeBack(to savepoint: Savepoint) {
        self.contents = savepoint.contents
        self.growth = savepoint.growth
        self.report = savepoint.report
        self.memory = RuleMemory()
    }

    var origin: ChangeOrigin? {
        get { self.report.origin }
        set { self.report.origin = newValue }
    }

    // MARK: Positions and reports

    func takePosition(in database: DatabaseID) throws(StorageFailure) -> Int64 {
        let position = try self.lastPosition(of: database) + 1
        self.growth.positions[database] = position
        self.positionsTaken += 1
        return position
    }

    func position(of database: DatabaseID) throws(StorageFailure) -> Int64 {
        let position = try self.lastPosition(of: database)
        if self.isWatched(database) { self.watchedPositions[database] = position }
        return position
    }

    private func lastPosition(of database: DatabaseID) throws(StorageFailure) -> Int64 {
        if let taken = self.growth.positions[database] { return taken }
        return DatabaseRow.table.integer("position", of: try self.row(of: database))
    }

    private func row(of database: DatabaseID) throws(StorageFailure) -> [ColumnValue] {
        guard let row = self.all(DatabaseRow.table, .integer(database.rawValue)).first else {
            throw .unexpected(code: 3)
        }
        return row
    }

    func lastChange(inZonesOf database: DatabaseID, exceptNamed name: String) -> Int64 {
        let table = ZoneRow.table
        return self.all(table, .integer(database.rawValue)).filter { table.text("name", of: $0) != name }
            .map { table.integer("position", of: $0) }.max() ?? 0
    }

    func isWatched(_ database: DatabaseID) -> Bool { self.report.watched[database] != nil }

    func note(_ kind: CommittedChange.Kind, at position: Int64, in database: DatabaseID) {
        self.report.note(kind, at: position, in: database)
    }

    /// Notes that somebody else has changed watched databases since their positions were known.
    func noteChangesOfOthers() throws(StorageFailure) {
        for database in self.report.watched.keys {
            let position = try self.lastPosition(of: database)
            guard let known = self.watchedPositions[database], position > known else { continue }
            self.report.noteMore(in: database, upTo: position)
            self.watchedPositions[database] = position
        }
    }

    func advance(_ zone: ZoneKey, to position: Int64) {
        self.growth.zones[zone, default: ZoneGrowth()].position = position
    }

    // MARK: Counting

    func count(_ growth: StoredAmount, in database: DatabaseID) {
        self.growth.databases[database, default: StoredAmount()].add(growth)
    }

    func count(rowBytes: Int, in zone: ZoneKey) {
        self.count(rowBytes: rowBytes, records: 0, bytes: 0, in: zone)
    }

    private func count(rowBytes: Int, records: Int, bytes: Int, in zone: ZoneKey) {
        let (records, bytes, rowBytes) = (Int64(records), Int64(bytes), Int64(rowBytes))
        self.growth.zones[zone, default: ZoneGrowth()].records += records
        self.growth.zones[zone, default: ZoneGrowth()].recordBytes += bytes
        self.growth.zones[zone, default: ZoneGrowth()].rowBytes += rowBytes
        self.count(
            StoredAmount(records: records, recordBytes: bytes, assets: 0, assetBytes: 0, rowBytes: rowBytes),
            in: zone.database
        )
    }

    private static let amountColumns = ["record_bytes", "asset_bytes", "row_bytes"]

    func bytesStored(under quota: Quota, with database: DatabaseID) throws(StorageFailure) -> Int64? {
        let databases = DatabaseRow.table
        let row = try self.row(of: database)
        switch quota.holder {
        case .container:
            let container = self.container(of: row)
            return self.bytesStored { self.container(of: $0) == container }
        case .user:
            let owner = databases.integer("owner", of: row)
            guard owner != 0 else { return nil }
            return self.bytesStored { databases.integer("owner", of: $0) == owner }
        }
    }

    private func container(of database: [ColumnValue]) -> Int64 {
        let number = DatabaseRow.table.integer("environment", of: database)
        let table = EnvironmentRow.table
        return self.all(table, .integer(number)).first.map { table.integer("container", of: $0) } ?? 0
    }

    /// The bytes of all databases that are counted, with what the transaction has written.
    private func bytesStored(in isCounted: ([ColumnValue]) -> Bool = { _ in true }) -> Int64 {
        let databases = DatabaseRow.table
        return self.all(databases).filter(isCounted).reduce(0) { sum, row in
            let number = DatabaseID(rawValue: databases.integer("number", of: row))
            return sum + Self.amountColumns.reduce(0) { $0 + databases.integer($1, of: row) }
                + (self.growth.databases[number]?.bytes ?? 0)
        }
    }

    /// Brings the rows of databases and zones up to date: the last thing before the commit.
    func writeCounters() throws(StorageFailure) {
        for database in Set(self.growth.positions.keys).union(self.growth.databases.keys) {
            let position = try self.lastPosition(of: database)
            let growth = self.growth.databases[database] ?? StoredAmount()
            try self.add(
                [
                    "record_count": growth.records, "record_bytes": growth.recordBytes,
                    "asset_count": growth.assets, "asset_bytes": growth.assetBytes,
                    "row_bytes": growth.rowBytes,
                ],
                position: position,
                to: try self.row(of: database),
                of: DatabaseRow.table
            )
            if self.isWatched(database) { self.watchedPositions[database] = position }
        }
        for (key, growth) in self.growth.zones {
            guard let row = self.row(of: key) else { continue }
            try self.add(
                [
                    "record_count": growth.records, "byte_count": growth.recordBytes,
                    "row_bytes": growth.rowBytes,
                ],
                position: growth.position,
                to: row,
                of: ZoneRow.table
            )
        }
        self.growth = Growth()
    }

    private func add(
        _ amounts: [String: Int64],
        position: Int64,
        to row: [ColumnValue],
        of table: Table
    ) throws(StorageFailure) {
        var row = row
        for (column, amount) in amounts {
            row[table.offset(of: column)] = .integer(table.integer(column, of: row) + amount)
        }
        row[table.offset(of: "position")] = .integer(max(position, table.integer("position", of: row)))
        _ = try self.contents.tables.put([row], in: table)
    }

    // MARK: Zones

    /// The row of a zone by its own key.
    func row(of zone: ZoneKey) -> [ColumnValue]? {
        self.all(ZoneRow.table, .integer(zone.database.rawValue)).first { Self.ownKey(of: $0) == zone }
    }

    func insertZone(
        named name: String,
        in database: DatabaseID,
        at position: Int64
    ) throws(StorageFailure) -> ZoneKey {
        let values: [String: ColumnValue] = [
            "database": .integer(database.rawValue), "name": .text(name), "number": .integer(position),
            "position": .integer(position),
        ]
        _ = try self.contents.tables.put([ZoneRow.table.row(values)], in: ZoneRow.table)
        return ZoneKey(database: database, number: position)
    }

    func deleteZone(_ zone: ZoneKey, named name: String) throws(StorageFailure) -> StoredAmount {
        let table = ZoneRow.table
        guard let row = self.row(of: zone) else { throw .unexpected(code: 4) }
        let growth = self.growth.zones.removeValue(forKey: zone) ?? ZoneGrowth()
        self.contents.tables.delete(keys: [table.key(of: row)], from: table)
        return StoredAmount(
            records: table.integer("record_count", of: row) + growth.records,
            recordBytes: table.integer("byte_count", of: row) + growth.recordBytes,
            assets: 0,
            assetBytes: 0,
            rowBytes: table.integer("row_bytes", of: row) + growth.rowBytes
        )
    }

    // MARK: Tables

    func put(_ rows: [[ColumnValue]], in table: Table) throws(StorageFailure) -> [Int64] {
        self.workDone += rows.count
        return try self.contents.tables.put(rows, in: table)
    }

    func delete(keys: [[ColumnValue]], from table: Table) {
        self.workDone += keys.count
        self.contents.tables.delete(keys: keys, from: table)
    }

    func delete(from table: Table, in range: TableRange, limit: Int) -> Int {
        self.contents.tables.delete(from: table, in: range, limit: limit)
    }

    func takeIndexNumbers(_ count: Int) -> Int64 {
        self.contents.lastIndex += Int64(count)
        return self.contents.lastIndex - Int64(count) + 1
    }

    // MARK: Records

    override func records(
        named names: ArraySlice<String>,
        in zone: ZoneKey,
        bytesMax: Int
    ) -> [StoredRecord?] {
        let records = super.records(named: names, in: zone, bytesMax: bytesMax)
        self.workDone += records.count
        return records
    }

    func apply(_ writes: RecordWrites, to zone: ZoneKey, in environment: EnvironmentID) -> [Int64] {
        var contents = self.contents.zones.removeValue(forKey: zone) ?? ZoneContents()
        defer { self.contents.zones[zone] = contents }
        self.workDone += writes.workOfStoredBodies
        for save in writes.saves { self.number(type: save.record.recordType, in: environment) }
        var numbers: [Int64] = []
        for save in writes.saves {
            let number = self.save(save, into: &contents, of: zone)
            numbers.append(number)
            self.change(save.entries, of: number, in: &contents, of: zone)
            for reference in save.references { self.set(reference, by: save.name, in: &contents, of: zone) }
        }
        for delete in writes.deletes {
            self.delete(delete, from: &contents, of: zone)
            self.change(delete.entries, of: delete.record.number, in: &contents, of: zone)
            for target in delete.targets {
                let none = ReferenceChange(target: target, kinds: [], before: nil)
                self.set(none, by: delete.name, in: &contents, of: zone)
            }
        }
        return numbers
    }

    /// Gives the name of a record type a number, unless it has one.
    private func number(type name: String, in environment: EnvironmentID) {
        let index = RecordTypeRow.byName.index
        let range = TableRange(index: index, prefix: [environment.columnValue, .text(name)])
        guard self.count(of: RecordTypeRow.table, in: range, limit: 1) == 0 else { return }
        var row = RecordTypeRow(environment: environment, name: name).values
        row[0] = .null
        _ = try? self.put([row], in: RecordTypeRow.table)
    }

    private func save(
        _ save: RecordWrites.Save,
        into contents: inout ZoneContents,
        of zone: ZoneKey
    ) -> Int64 {
        self.workDone += 1
        var stored = save.record
        self.advance(zone, to: stored.position)
        if let existing = save.existing, let known = contents.records[existing.number] {
            contents.changes[existing.position] = nil
            contents.records[stored.number] = ZoneContents.Record(
                name: save.name,
                stored: stored,
                createdPosition: known.createdPosition
            )
            let bytes = stored.body.bytes.count - existing.body.bytes.count
            self.count(rowBytes: 0, records: 0, bytes: bytes, in: zone)
        } else {
            self.contents.lastRecord += 1
            stored.number = self.contents.lastRecord
            contents.records[stored.number] = ZoneContents.Record(
                name: save.name,
                stored: stored,
                createdPosition: stored.position
            )
            contents.numbers[Name(save.name)] = stored.number
            var rowBytes = RowBytes.record(named: save.name)
            // A record has one state: what is alive has no tombstone.
            if let position = contents.tombstones[Name(save.name)] {
                contents.tombstones[Name(save.name)] = nil
                contents.deletions[position] = nil
                rowBytes -= RowBytes.tombstone(named: save.name)
            }
            self.count(rowBytes: rowBytes, records: 1, bytes: stored.body.bytes.count, in: zone)
        }
        contents.changes[stored.position] = stored.number
        return stored.number
    }

    private func delete(
        _ delete: RecordWrites.Delete,
        from contents: inout ZoneContents,
        of zone: ZoneKey
    ) {
        self.workDone += 2
        let record = delete.record
        contents.changes[record.position] = nil
        contents.records[record.number] = nil
        contents.numbers[Name(delete.name)] = nil
        contents.tombstones[Name(delete.name)] = delete.position
        contents.deletions[delete.position] = ZoneContents.Deletion(
            feed: FeedDeletion(
                position: delete.position,
                name: delete.name,
                recordType: record.recordType,
                createdBy: record.system.createdBy,
                share: delete.coveredBy
            ),
            deletedMilliseconds: self.nowMilliseconds
        )
        self.advance(zone, to: delete.position)
        self.count(
            rowBytes: RowBytes.tombstone(named: delete.name) - RowBytes.record(named: delete.name),
            records: -1,
            bytes: -record.body.bytes.count,
            in: zone
        )
    }

    /// Adds and removes the entries of one record.
    private func change(
        _ changes: IndexChanges,
        of record: Int64,
        in contents: inout ZoneContents,
        of zone: ZoneKey
    ) {
        let key = RecordKey(zone: zone, number: record)
        for entry in changes.removed { self.set(entry, isThere: false, of: key, in: &contents) }
        for entry in changes.added { self.set(entry, isThere: true, of: key, in: &contents) }
    }

    /// Adds entries of one record, of which some may be there.
    func add(_ entries: [IndexEntry], of record: RecordKey) {
        guard var contents = self.contents.zones.removeValue(forKey: record.zone) else { return }
        for entry in entries { self.set(entry, isThere: true, of: record, in: &contents) }
        self.contents.zones[record.zone] = contents
    }

    private func set(
        _ entry: IndexEntry,
        isThere: Bool,
        of record: RecordKey,
        in contents: inout ZoneContents
    ) {
        self.workDone += 1
        let key = Pair(Values(entry.value), record.number)
        let wasThere = contents.entries[entry.index]?[key] != nil
        guard wasThere != isThere else { return }
        contents.entries[entry.index, default: SortedMap()][key] = isThere ? () : nil
        let bytes = RowBytes.entry(entry)
        self.count(rowBytes: isThere ? bytes : -bytes, in: record.zone)
    }

    // MARK: References

    private func set(
        _ reference: ReferenceChange,
        by referrer: String,
        in contents: inout ZoneContents,
        of zone: ZoneKey
    ) {
        self.workDone += 1
        let key = Pair(Name(reference.target), Name(referrer))
        let wasThere = contents.references[key] != nil
        contents.references[key] = reference.kinds.isEmpty ? nil : reference.kinds
        let bytes = RowBytes.reference(of: reference.target, by: referrer)
        if wasThere != !reference.kinds.isEmpty {
            self.count(rowBytes: wasThere ? -bytes : bytes, in: zone)
        }
    }

    private func referrers(
        of target: String,
        in zone: ZoneKey,
        behind name: String,
        limit: Int
    ) -> [Referrer] {
        let references = self.zone(zone).references
        let target = Name(target)
        let start = references.offset { $0 > Pair(target, Name(name)) }
        return references.entries[start...].prefix(limit).prefix { $0.key.first == target }.map {
            Referrer(name: $0.key.second.text, kinds: $0.value)
        }
    }

    func referrers(of targets: [String], in zone: ZoneKey, behind name: String, limit: Int) -> [[Referrer]] {
        var (lists, left): ([[Referrer]], Int) = ([], limit)
        for target in targets where left > 0 {
            let behind = lists.isEmpty ? name : ""
            let referrers = self.referrers(of: target, in: zone, behind: behind, limit: left)
            self.workDone += 1 + referrers.count / 8
            left -= referrers.count
            lists.append(referrers)
        }
        return lists
    }

    func countsOfDeleteSelfReferrers(of targets: [String], in zone: ZoneKey, limit: Int) -> [Int] {
        targets.map { target in
            let referrers = self.referrers(of: target, in: zone, behind: "", limit: .max)
            let count = min(limit, referrers.count { $0.kinds.contains(.deleteSelf) })
            self.workDone += 1 + count / 64
            return count
        }
    }
}
