import RecordModel
import StorageContract
import Testing

@testable import RecordStore

/// What a store has, asked through the contract of engines.
extension EngineUnderTest {
    /// Reads in one snapshot.
    func snapshot<Value: Sendable>(
        _ read: @escaping @Sendable (any Snapshot) throws(StorageFailure) -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let job = ReadJob(
                requester: self.privately,
                effort: .long,
                body: { (snapshot, _) throws(StorageFailure) in
                    let value = try read(snapshot)
                    return { continuation.resume(returning: value) }
                },
                fail: { continuation.resume(throwing: $0) }
            )
            self.store.engine.read(job)
        }
    }

    /// All rows of a declared table.
    func rows<Row: TableRow>(_ type: Row.Type) throws -> [Row] {
        try self.store.engine.readTables { try $0.rows(RowRange(Row.byKey)) }
    }

    func count<Row: TableRow>(_ type: Row.Type) throws -> Int {
        try self.store.engine.readTables { try $0.count(RowRange(Row.byKey)) }
    }

    /// Waits until a declared table has no rows.
    func waitUntilEmpty<Row: TableRow>(_ type: Row.Type) async throws {
        while try self.count(type) > 0 { try await Task.sleep(for: .milliseconds(1)) }
    }

    /// Waits until nothing is left of zones that were deleted.
    func swept() async throws { try await self.waitUntilEmpty(SweepRow.self) }

    /// Changes what roles may do with records; `nil` takes a grant away.
    func changeGrants(_ change: @escaping @Sendable (TypeGrantRow, _ type: String) -> Int64?) throws {
        try self.store.engine.administer { transaction in
            for var grant in try transaction.rows(RowRange(TypeGrantRow.byKey)) {
                let type = try transaction.row(RecordTypeRow.byKey, grant.recordType)
                if let permissions = change(grant, type?.name ?? "") {
                    grant.permissions = permissions
                    try transaction.put(grant)
                } else {
                    try transaction.delete(grant)
                }
            }
        }
    }

    /// What the rows of zones and databases say that their contents do not.
    func wrongCounters() async throws -> [String] {
        try await self.snapshot { (snapshot) throws(StorageFailure) in
            try Recount(snapshot).differences()
        }
    }

    /// Assets whose rows do not say what the records name.
    func wrongUses() async throws -> [String] {
        try await self.snapshot { (snapshot) throws(StorageFailure) in
            let uses = try snapshot.rows(RowRange(AssetUseRow.byKey))
            let named = Set(uses.map(\.asset))
            let complete = try snapshot.rows(RowRange(AssetRow.byKey)).filter { $0.state == .complete }
            var wrong: [String] = []
            for asset in complete where (asset.sinceMilliseconds == nil) != named.contains(asset.number) {
                wrong.append("named since \(asset.number)")
            }
            for asset in named.subtracting(complete.map(\.number)) { wrong.append("use of none \(asset)") }
            for use in uses {
                let zone = ZoneKey(database: use.database, number: use.zone)
                if use.record < 0 {
                    // A change in the history of a zone.
                    let past = try snapshot.row(PastRow.byKey, use.database, use.zone, -use.record)
                    if past.map({ RecordBody(trusted: $0.body).namedAssets.isEmpty }) ?? true {
                        wrong.append("use by no change \(-use.record)")
                    }
                    continue
                }
                let isSwept = try snapshot.count(RowRange(SweepRow.byKey, use.database, use.zone)) > 0
                guard !isSwept, try snapshot.record(RecordKey(zone: zone, number: use.record)) == nil else {
                    continue
                }
                wrong.append("use by none \(use.record)")
            }
            return wrong
        }
    }

    /// Whether every record is in the order of changes, at the position of its last change.
    func isOrderWhole() async throws -> Bool {
        try await self.snapshot { (snapshot) throws(StorageFailure) in
            for zone in try snapshot.rows(RowRange(ZoneRow.byKey)) where zone.targetDatabase == nil {
                var changes: [FeedChange] = []
                while true {
                    let page = try snapshot.changes(
                        after: changes.last?.position ?? 0,
                        in: zone.key,
                        limit: 50
                    ).elements
                    guard !page.isEmpty else { break }
                    changes += page
                }
                let ascends = zip(changes, changes.dropFirst()).allSatisfy { $0.position < $1.position }
                let records = try RecountedZone(zone.key, indexes: [], in: snapshot).changes
                guard ascends, records.isSubset(of: changes) else { return false }
            }
            return true
        }
    }
}

/// The contents of a zone, counted one by one.
struct RecountedZone {
    private(set) var stored = StoredAmount()
    /// The last change of a record, deletions included.
    private(set) var position: Int64 = 0
    /// The last change of each record.
    private(set) var changes: Set<FeedChange> = []
    private(set) var entries = 0

    init(_ key: ZoneKey, indexes: Set<Int64>, in snapshot: any Snapshot) throws(StorageFailure) {
        var (stored, position, changes) = (StoredAmount(), Int64(0), Set<FeedChange>())
        do throws(FeedFailure) {
            try snapshot.visitRecords(of: key, beyond: nil, isDescending: false) { row in
                let record = row.record.record(in: .default)
                stored.records += 1
                stored.recordBytes += Int64(record.body.bytes.count)
                stored.rowBytes += Int64(RowBytes.record(named: record.id.recordName))
                for target in References(body: record.body, parent: record.parent).targets {
                    stored.rowBytes += Int64(RowBytes.reference(of: target, by: record.id.recordName))
                }
                position = max(position, row.position)
                changes.insert(FeedChange(position: row.position, record: row.number))
                return true
            }
        } catch {
            throw .unexpected(code: 0)
        }
        for deletion in try snapshot.deletions(after: 0, in: key, limit: .max) {
            stored.rowBytes += Int64(RowBytes.tombstone(named: deletion.name))
            position = max(position, deletion.position)
        }
        for index in indexes {
            let entries = try snapshot.entries(EntryScan(.all, of: index, in: key)).elements
            self.entries += entries.count
            for entry in entries {
                stored.rowBytes += Int64(RowBytes.entry(IndexEntry(index: index, value: entry.value)))
            }
        }
        (self.stored, self.position, self.changes) = (stored, position, changes)
    }
}

/// A recount of what the rows of zones and databases say.
private struct Recount {
    private let snapshot: any Snapshot
    private let indexes: Set<Int64>

    init(_ snapshot: any Snapshot) throws(StorageFailure) {
        self.snapshot = snapshot
        self.indexes = try Recount.indexes(in: snapshot)
    }

    /// The numbers of all indexes, those that were dropped and have entries left too.
    static func indexes(in snapshot: any Snapshot) throws(StorageFailure) -> Set<Int64> {
        Set(try snapshot.rows(RowRange(FieldRow.byKey)).compactMap(\.index))
            .union(try snapshot.rows(RowRange(IndexRemovalRow.byKey)).map(\.index))
    }

    func differences() throws(StorageFailure) -> [String] {
        var wrong: [String] = []
        let zones = try self.snapshot.rows(RowRange(ZoneRow.byKey))
        var found: [DatabaseID: StoredAmount] = [:]
        for zone in zones {
            var contents = try RecountedZone(zone.key, indexes: self.indexes, in: self.snapshot)
            let isOwn = zone.targetDatabase == nil
            let counted = (contents.stored.records, contents.stored.recordBytes)
            if isOwn, (zone.records, zone.recordBytes) != counted {
                wrong.append("records of \(zone.name)")
            }
            if isOwn, zone.position != max(zone.number, contents.position) {
                wrong.append("position of \(zone.name)")
            }
            let rowBytes = contents.stored.rowBytes + Int64(try self.rowBytes(beside: zone.key))
            if zone.rowBytes != rowBytes {
                wrong.append("rows of \(zone.name): \(zone.rowBytes), not \(rowBytes)")
            }
            contents.countRows(zone.rowBytes + Int64(RowBytes.zone(named: zone.name)))
            found[zone.database, default: StoredAmount()].add(contents.stored)
        }
        try self.addAssets(to: &found)
        try self.addRows(to: &found)
        for database in try self.snapshot.rows(RowRange(DatabaseRow.byKey)) {
            let stored = found[database.number] ?? StoredAmount()
            if database.stored != stored {
                wrong.append("database \(database.number): \(database.stored), not \(stored)")
            }
        }
        return wrong
    }

    /// What the rows of declared tables count for in a zone.
    private func rowBytes(beside zone: ZoneKey) throws(StorageFailure) -> Int {
        let (database, number) = (zone.database, zone.number)
        let shares = try self.snapshot.rows(RowRange(ShareRow.byName, database, number))
        let tokens = try self.snapshot.rows(RowRange(ShareTokenRow.byKey)).filter {
            $0.database == database && $0.zone == number
        }
        let changes = try self.snapshot.rows(RowRange(MembershipChangeRow.byKey, database, number))
        let uses = try self.snapshot.count(RowRange(AssetUseRow.byKey, database, number))
        let past = try self.snapshot.rows(RowRange(PastRow.byKey, database, number))
        return shares.reduce(0) { $0 + RowBytes.share(named: $1.name) }
            + tokens.reduce(0) { $0 + RowBytes.shareToken(of: $1.root) }
            + changes.reduce(0) { $0 + RowBytes.coverChange(named: $1.name) }
            + past.reduce(0) { $0 + RowBytes.past($1) } + RowBytes.assetUse * uses
    }

    private func addAssets(to found: inout [DatabaseID: StoredAmount]) throws(StorageFailure) {
        for asset in try self.snapshot.rows(RowRange(AssetRow.byKey))
        where asset.state != .going && !asset.isReleased {
            found[asset.database, default: StoredAmount()].add(
                StoredAmount(
                    records: 0,
                    recordBytes: 0,
                    assets: 1,
                    assetBytes: asset.size,
                    rowBytes: Int64(RowBytes.asset(asset.size))
                )
            )
        }
    }

    /// Rows that belong to no zone.
    private func addRows(to found: inout [DatabaseID: StoredAmount]) throws(StorageFailure) {
        func add(_ bytes: Int, _ database: DatabaseID) {
            found[database, default: StoredAmount()].rowBytes += Int64(bytes)
        }
        for row in try self.snapshot.rows(RowRange(ZoneTombstoneRow.byKey)) {
            add(RowBytes.zoneTombstone(named: row.name), row.database)
        }
        for row in try self.snapshot.rows(RowRange(RequestRow.byKey)) {
            add(RowBytes.outcome(row.outcome.count), row.database)
        }
        for row in try self.snapshot.rows(RowRange(SweepRow.byKey)) { add(Int(row.bytes), row.database) }
        for row in try self.snapshot.rows(RowRange(SubscriptionRow.byKey)) {
            let cursors = try self.snapshot.count(RowRange(ListenerCursorRow.byKey, row.number))
            add(RowBytes.subscription(row.stored(ownedBy: "")) + RowBytes.cursor * cursors, row.database)
        }
    }
}

extension RecountedZone {
    /// Counts what a zone's row says and its own bytes in place of what was found.
    fileprivate mutating func countRows(_ bytes: Int64) { self.stored.rowBytes = bytes }
}

/// A zone that may be gone, whose contents are looked for under its key.
struct RememberedZone: Sendable {
    let key: ZoneKey
    let names: [String]
    let indexes: Set<Int64>

    /// The zones of a database as they are now.
    static func all(of database: DatabaseID, in it: EngineUnderTest) async throws -> [RememberedZone] {
        try await it.snapshot { (snapshot) throws(StorageFailure) in
            let indexes = try Recount.indexes(in: snapshot)
            var zones: [RememberedZone] = []
            for zone in try snapshot.rows(RowRange(ZoneRow.byKey, database)) {
                var names: [String] = []
                do throws(FeedFailure) {
                    try snapshot.visitRecords(of: zone.key, beyond: nil, isDescending: false) { row in
                        names.append(String(decoding: row.record.name, as: UTF8.self))
                        return true
                    }
                } catch {
                    throw .unexpected(code: 0)
                }
                zones.append(RememberedZone(key: zone.key, names: names, indexes: indexes))
            }
            return zones
        }
    }

    /// What is stored under the key.
    func contents(in it: EngineUnderTest) async throws -> [String] {
        let found = try await it.snapshot { (snapshot) throws(StorageFailure) in
            let zone = try RecountedZone(self.key, indexes: self.indexes, in: snapshot)
            var found: [String] = []
            if zone.stored.records > 0 { found.append("records") }
            let deletions = try snapshot.deletions(after: 0, in: self.key, limit: 1)
            if !deletions.isEmpty { found.append("tombstones") }
            let changes = try snapshot.changes(after: 0, in: self.key, limit: 1).elements
            if !changes.isEmpty { found.append("changes") }
            if zone.entries > 0 { found.append("entries") }
            return found
        }
        let referrers = try it.store.engine.administer { transaction in
            try transaction.referrers(of: self.names, in: self.key, behind: "", limit: 1)
        }
        return found + (referrers.joined().isEmpty ? [] : ["references"])
    }
}
