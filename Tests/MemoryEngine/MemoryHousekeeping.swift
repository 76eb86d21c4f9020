import RecordModel
import RecordStore

/// What an engine does while nobody waits: the steps of the rules, and the building of indexes.
struct MemoryHousekeeping {
    private var tombstones: TombstoneExpiry
    private var outcomes = OutcomeExpiry()
    private var views = ViewPace()
    private let requestIDRetentionSeconds: Int

    init(tombstoneRetentionSeconds: Int, requestIDRetentionSeconds: Int) {
        self.tombstones = TombstoneExpiry(retentionSeconds: tombstoneRetentionSeconds)
        self.requestIDRetentionSeconds = requestIDRetentionSeconds
    }

    /// Whether there may be something to do in some contents.
    func isWanted(in contents: StoreContents, nowMilliseconds now: Int64) -> Bool {
        self.tombstones.isWanted(nowMilliseconds: now) || self.outcomes.isWanted(nowMilliseconds: now)
            || [
                SweepRow.table, ShareRemovalRow.table, ViewRefreshRow.table, ShareNewsRow.table,
                IndexBuildRow.table, IndexRemovalRow.table,
            ].contains { contents.tables.count(of: $0, in: TableRange(index: $0.key), limit: 1) > 0 }
    }

    /// Does some of it.
    mutating func step(in transaction: MemoryTransaction) throws(StorageFailure) {
        let rows = HousekeepingRows(transaction)
        _ = try self.views.step(isAlone: true, in: transaction)
        _ = try ZoneSweep.step(in: rows)
        try rows.buildIndexes()
        rows.removeIndexes()
        let now = transaction.nowMilliseconds
        try self.tombstones.step(nowMilliseconds: now, in: rows)
        let oldest = WriteRules.oldestRequestMilliseconds(
            now: now,
            retentionSeconds: self.requestIDRetentionSeconds
        )
        try self.outcomes.step(olderThanMilliseconds: oldest, nowMilliseconds: now, in: rows)
    }
}

/// The rows that the rules of housekeeping remove.
private final class HousekeepingRows: HousekeepingTransaction {
    private let transaction: MemoryTransaction

    init(_ transaction: MemoryTransaction) { self.transaction = transaction }

    var tables: any TableWriter { self.transaction }

    // MARK: Sweeping

    func nextSweptZone() -> SweptZone? {
        let table = SweepRow.table
        return self.transaction.all(table).first.map { row in
            SweptZone(zone: Self.zone(of: row, in: table), bytes: Int(table.integer("byte_count", of: row)))
        }
    }

    private static func zone(of row: [ColumnValue], in table: Table) -> ZoneKey {
        ZoneKey(
            database: DatabaseID(rawValue: table.integer("database", of: row)),
            number: table.integer("zone", of: row)
        )
    }

    /// The contents are one value, and go as one.
    func remove(_ rows: SweptRows, of zone: ZoneKey, limit: Int) throws(StorageFailure) -> Int {
        switch rows {
        case .assetUses: return try self.transaction.removeUses(inZone: zone, limit: limit)
        case .records, .tombstones, .references, .changes, .entries:
            self.transaction.contents.zones[zone] = nil
            return 0
        case .membershipChanges: return self.remove(MembershipChangeRow.table, of: zone, limit)
        case .shareTokens: return self.remove(ShareTokenRow.table, of: zone, limit)
        case .tokenExpiries: return self.remove(TokenExpiryRow.table, of: zone, limit)
        }
    }

    private func remove(_ table: Table, of zone: ZoneKey, _ limit: Int) -> Int {
        let going = self.transaction.all(table).filter { Self.zone(of: $0, in: table) == zone }.prefix(limit)
        self.transaction.delete(keys: going.map { table.key(of: $0) }, from: table)
        return going.count
    }

    func finishSweep(of swept: SweptZone) {
        let key = [swept.zone.database.rawValue, swept.zone.number].map { ColumnValue.integer($0) }
        self.transaction.delete(keys: [key], from: SweepRow.table)
        self.count(rowBytes: -swept.bytes, in: swept.zone.database)
    }

    private func count(rowBytes: Int, in database: DatabaseID) {
        var growth = StoredAmount()
        growth.rowBytes = Int64(rowBytes)
        self.transaction.count(growth, in: database)
    }

    // MARK: Outcomes of requests

    private func database(in table: Table, after database: DatabaseID?) -> DatabaseID? {
        let rows = self.transaction.all(table)
        return rows.map { table.integer("database", of: $0) }.first { $0 > database?.rawValue ?? .min }
            .map { DatabaseID(rawValue: $0) }
    }

    func databaseWithOutcomes(after database: DatabaseID?) -> DatabaseID? {
        self.database(in: RequestRow.table, after: database)
    }

    func removeOutcomes(
        below bound: RequestID,
        in database: DatabaseID,
        limit: Int
    ) -> Int {
        let table = RequestRow.table
        let going = self.transaction.all(table, .integer(database.rawValue))
            .prefix { $0[table.offset(of: "id")] < .bytes(bound.bytes) }.prefix(limit)
        for row in going {
            guard case .bytes(let outcome) = row[table.offset(of: "outcome")] else { continue }
            self.count(rowBytes: -RowBytes.outcome(outcome.count), in: database)
        }
        self.transaction.delete(keys: going.map { table.key(of: $0) }, from: table)
        return going.count
    }

    // MARK: Tombstones

    func zone(with rows: ExpiringRows, after zone: ZoneKey?) -> ZoneKey? {
        let zones: [ZoneKey] =
            switch rows {
            case .tombstones:
                self.transaction.contents.zones.filter { !$0.value.deletions.isEmpty }.map(\.key)
            case .membershipChanges:
                self.transaction.all(MembershipChangeRow.table).map {
                    Self.zone(of: $0, in: MembershipChangeRow.table)
                }
            }
        func place(_ zone: ZoneKey) -> Pair<Int64, Int64> { Pair(zone.database.rawValue, zone.number) }
        let later = zone.map { last in zones.filter { place($0) > place(last) } } ?? zones
        return later.min { place($0) < place($1) }
    }

    func remove(
        _ rows: ExpiringRows,
        of zone: ZoneKey,
        beforeMilliseconds time: Int64,
        limit: Int
    ) throws(StorageFailure) -> Int {
        var (count, bytes) = (0, 0)
        switch rows {
        case .tombstones:
            let going = self.transaction.zone(zone).deletions.entries.prefix(limit)
                .prefix { $0.value.deletedMilliseconds < time }
            for (position, deletion) in going {
                self.transaction.contents.zones[zone]?.deletions[position] = nil
                self.transaction.contents.zones[zone]?.tombstones[Name(deletion.feed.name)] = nil
                bytes += RowBytes.tombstone(named: deletion.feed.name)
                count += 1
                try self.noteGone(through: position, in: zone.database)
            }
        case .membershipChanges:
            let table = MembershipChangeRow.table
            let through = self.goneThrough(in: zone.database)
            let going = self.transaction.all(
                table,
                .integer(zone.database.rawValue),
                .integer(zone.number)
            ).prefix { table.integer("position", of: $0) <= through }.prefix(limit)
            bytes = going.reduce(0) { $0 + RowBytes.coverChange(named: table.text("name", of: $1)) }
            count = going.count
            self.transaction.delete(keys: going.map { table.key(of: $0) }, from: table)
        }
        // What is swept counts as a whole until its end.
        if self.transaction.row(of: zone) != nil { self.transaction.count(rowBytes: -bytes, in: zone) }
        return count
    }

    func databaseWithZoneTombstones(after database: DatabaseID?) -> DatabaseID? {
        self.database(in: ZoneTombstoneRow.table, after: database)
    }

    func removeZoneTombstones(
        of database: DatabaseID,
        beforeMilliseconds time: Int64,
        limit: Int
    ) throws(StorageFailure) -> Int {
        let table = ZoneTombstoneRow.table
        let going = self.transaction.all(table, .integer(database.rawValue)).prefix(limit)
            .prefix { table.integer("deleted_ms", of: $0) < time }
        for row in going {
            self.count(
                rowBytes: -RowBytes.zoneTombstone(named: table.text("name", of: row)),
                in: database
            )
            try self.noteGone(through: table.integer("position", of: row), in: database)
        }
        self.transaction.delete(keys: going.map { table.key(of: $0) }, from: table)
        return going.count
    }

    private func goneThrough(in database: DatabaseID) -> Int64 {
        let rows = self.transaction.all(DatabaseRow.table, .integer(database.rawValue))
        return rows.first.map { DatabaseRow.table.integer("tombstones_gone_through", of: $0) } ?? 0
    }

    private func noteGone(through position: Int64, in database: DatabaseID) throws(StorageFailure) {
        let table = DatabaseRow.table
        guard position > self.goneThrough(in: database),
            var row = self.transaction.all(table, .integer(database.rawValue)).first
        else { return }
        row[table.offset(of: "tombstones_gone_through")] = .integer(position)
        _ = try self.transaction.put([row], in: table)
    }

    // MARK: Indexes

    /// Adds the entries of earlier records to indexes that are being built, all at once.
    func buildIndexes() throws(StorageFailure) {
        let builds = self.transaction.all(IndexBuildRow.table)
        let indexes = Set(builds.map { IndexBuildRow.table.integer("index_number", of: $0) })
        guard !indexes.isEmpty else { return }
        let (fields, types) = (FieldRow.table, RecordTypeRow.table)
        let numbers = Set(
            self.transaction.all(fields).filter { indexes.contains(fields.integer("index_number", of: $0)) }
                .map { fields.integer("record_type", of: $0) }
        )
        for type in self.transaction.all(types) where numbers.contains(types.integer("number", of: type)) {
            let environment = EnvironmentID(rawValue: types.integer("environment", of: type))
            let name = types.text("name", of: type)
            let stored = try self.transaction.types(named: [name], in: environment)[0]
            guard let definitions = stored?.fields.keeping(indexes: indexes) else { continue }
            for zone in try self.transaction.existingZones(of: environment) {
                self.index(recordsOf: name, in: zone, definitions)
            }
        }
        let keys = builds.map { IndexBuildRow.table.key(of: $0) }
        self.transaction.delete(keys: keys, from: IndexBuildRow.table)
    }

    private func index(recordsOf type: String, in zone: ZoneKey, _ definitions: FieldDefinitions) {
        guard var contents = self.transaction.contents.zones.removeValue(forKey: zone) else { return }
        for (number, record) in contents.records.entries where record.stored.recordType == type {
            let changes = IndexChanges(
                from: nil,
                to: record.stored,
                named: record.name,
                definitions: definitions
            )
            self.transaction.change(changes, of: number, in: &contents, of: zone)
        }
        self.transaction.contents.zones[zone] = contents
    }

    /// Removes the entries of indexes that were dropped.
    func removeIndexes() {
        let table = IndexRemovalRow.table
        let removals = self.transaction.all(table)
        for index in removals.map({ table.integer("index_number", of: $0) }) {
            for (zone, contents) in self.transaction.contents.zones {
                guard let entries = contents.entries[index] else { continue }
                self.transaction.contents.zones[zone]?.entries[index] = nil
                guard self.transaction.row(of: zone) != nil else { continue }
                let bytes = entries.entries.reduce(0) {
                    $0 + RowBytes.entry(IndexEntry(index: index, value: $1.key.first.list))
                }
                self.transaction.count(rowBytes: -bytes, in: zone)
            }
        }
        self.transaction.delete(keys: removals.map { table.key(of: $0) }, from: table)
    }
}
