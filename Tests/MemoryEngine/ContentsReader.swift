import RecordModel
import StorageContract

/// A snapshot of a store: contents that nobody else changes.
class ContentsReader: LocalSnapshot {
    var contents: StoreContents

    init(_ contents: StoreContents) { self.contents = contents }

    func zone(_ key: ZoneKey) -> ZoneContents { self.contents.zones[key] ?? ZoneContents() }

    // MARK: Tables and types

    func rows(
        of table: Table,
        by index: Table.Index,
        keys: [[ColumnValue]]
    ) throws(StorageFailure) -> [[ColumnValue]?] {
        try self.contents.tables.rows(of: table, by: index, keys: keys)
    }

    func rows(of table: Table, in range: TableRange, limit: Int) -> [[ColumnValue]] {
        self.contents.tables.rows(of: table, in: range, limit: limit)
    }

    func count(of table: Table, in range: TableRange, limit: Int) -> Int {
        self.contents.tables.count(of: table, in: range, limit: limit)
    }

    func all(_ table: Table, _ prefix: ColumnValue...) -> [[ColumnValue]] {
        self.rows(of: table, in: TableRange(index: table.key, prefix: prefix), limit: .max)
    }

    func types(
        named names: [String],
        in environment: EnvironmentID
    ) throws(StorageFailure) -> [StoredType?] {
        try StoredType.types(named: names, in: environment, from: self)
    }

    func hasEntries(ofIndex index: Int64, in environment: EnvironmentID) throws(StorageFailure) -> Bool {
        try self.existingZones(of: environment).contains { self.zone($0).entries[index]?.isEmpty == false }
    }

    /// The keys of the zones of an environment.
    func existingZones(of environment: EnvironmentID) throws(StorageFailure) -> [ZoneKey] {
        let databases = DatabaseRow.table
        return self.all(ZoneRow.table).compactMap { row in
            let key = Self.ownKey(of: row)
            let database = self.all(databases, .integer(key.database.rawValue))
            return database.first.map { databases.integer("environment", of: $0) } == environment.rawValue
                ? key : nil
        }
    }

    // MARK: Zones

    /// The key of a row of the table of zones.
    static func ownKey(of row: [ColumnValue]) -> ZoneKey {
        let table = ZoneRow.table
        return ZoneKey(
            database: DatabaseID(rawValue: table.integer("database", of: row)),
            number: table.integer("number", of: row)
        )
    }

    func zone(named name: String, in database: DatabaseID) -> ZoneKey? {
        self.all(ZoneRow.table, .integer(database.rawValue), .text(name)).first.map { row in
            let table = ZoneRow.table
            guard row[table.offset(of: "target_database")] != .null else { return Self.ownKey(of: row) }
            return ZoneKey(
                database: DatabaseID(rawValue: table.integer("target_database", of: row)),
                number: table.integer("target_zone", of: row)
            )
        }
    }

    func zones(of database: DatabaseID, after position: Int64, limit: Int) -> [FeedZone] {
        let table = ZoneRow.table
        let zones = self.all(table, .integer(database.rawValue)).map { row in
            var zone = FeedZone(
                name: table.text("name", of: row),
                key: Self.ownKey(of: row),
                position: table.integer("position", of: row),
                recordCount: table.integer("record_count", of: row),
                byteCount: table.integer("byte_count", of: row)
            )
            if case .bytes(let token) = row[table.offset(of: "client_token")] { zone.clientToken = token }
            return zone
        }
        let changed = zones.filter { $0.position > position }.sorted { $0.position < $1.position }
        return Array(changed.prefix(limit))
    }

    func zoneDeletions(of database: DatabaseID, after position: Int64, limit: Int) -> [FeedZoneDeletion] {
        let table = ZoneTombstoneRow.table
        var last = SortedMap<Name, Int64>()
        for row in self.all(table, .integer(database.rawValue)) {
            last[Name(table.text("name", of: row))] = table.integer("position", of: row)
        }
        return Array(
            last.entries.filter { $0.value > position }.sorted { $0.value < $1.value }.prefix(limit)
                .map { FeedZoneDeletion(position: $0.value, name: $0.key.text) }
        )
    }

    // MARK: Records

    func records(named names: ArraySlice<String>, in zone: ZoneKey, bytesMax: Int) -> [StoredRecord?] {
        var (found, bytes): ([StoredRecord?], Int) = ([], 0)
        for name in names where bytes <= bytesMax {
            let record = self.contents.zones[zone]?.record(named: name)?.stored
            bytes += record?.body.bytes.count ?? 0
            found.append(record)
        }
        return found
    }

    func storedRecord(_ key: RecordKey) -> NamedRecord? {
        self.zone(key.zone).records[key.number].map { NamedRecord(name: $0.name, stored: $0.stored) }
    }

    func positions(ofRecordNamed name: String, in zone: ZoneKey) -> RecordPositions? {
        self.zone(zone).record(named: name).map {
            RecordPositions(
                number: $0.stored.number,
                position: $0.stored.position,
                createdPosition: $0.createdPosition
            )
        }
    }

    func visitRecords(
        of zone: ZoneKey,
        beyond number: Int64?,
        isDescending: Bool,
        _ visit: (borrowing FeedRow) throws(FeedFailure) -> Bool
    ) throws(FeedFailure) {
        let records = self.zone(zone).records
        if isDescending {
            let end = number.map { records.offset(of: $0) } ?? records.entries.count
            for entry in records.entries[..<end].reversed() {
                guard try entry.value.stored.visited(named: entry.value.name, visit) else { return }
            }
        } else {
            let start = number.map { number in records.offset { $0 > number } } ?? 0
            for entry in records.entries[start...] {
                guard try entry.value.stored.visited(named: entry.value.name, visit) else { return }
            }
        }
    }

    func visitRecord(
        _ key: RecordKey,
        _ visit: (borrowing FeedRow) throws(FeedFailure) -> Bool
    ) throws(FeedFailure) -> Bool? {
        guard let record = self.contents.zones[key.zone]?.records[key.number] else { return nil }
        return try record.stored.visited(named: record.name, visit)
    }

    // MARK: Changes

    func changes(after position: Int64, in zone: ZoneKey, limit: Int) -> Listed<FeedChange> {
        let order = self.zone(zone).changes
        let changes = order.entries[order.offset { $0 > position }...].prefix(limit).map {
            FeedChange(position: $0.key, record: $0.value)
        }
        return Listed(changes, self.records(numbered: changes.map(\.record), in: zone))
    }

    func deletions(after position: Int64, in zone: ZoneKey, limit: Int) -> [FeedDeletion] {
        let deletions = self.zone(zone).deletions
        return deletions.entries[deletions.offset { $0 > position }...].prefix(limit).map(\.value.feed)
    }

    // MARK: Indexes

    /// The entries of a scan in ascending order, those that it passes over included.
    private func scanned(_ scan: EntryScan) -> ArraySlice<(key: Pair<Values<UInt8>, Int64>, value: Void)> {
        guard let entries = self.contents.zones[scan.zone]?.entries[scan.index] else { return [] }
        func offset(of value: [UInt8]) -> Int { entries.offset { $0.first >= Values(value) } }
        var low = offset(of: scan.range.lower)
        var high = scan.range.upper.map { offset(of: $0) } ?? entries.entries.count
        if let after = scan.after {
            let place = Pair(Values(after.value), after.record)
            if scan.isDescending {
                high = entries.offset(of: place)
            } else {
                low = entries.offset { $0 > place }
            }
        }
        return entries.entries[low..<max(low, high)]
    }

    func entries(_ scan: EntryScan) -> Listed<EntryPosition> {
        func place(_ entry: (key: Pair<Values<UInt8>, Int64>, value: Void)) -> EntryPosition {
            EntryPosition(value: entry.key.first.list, record: entry.key.second)
        }
        let entries = self.scanned(scan)
        let list =
            scan.isDescending
            ? entries.dropLast(scan.offset).suffix(scan.limit).reversed().map(place)
            : entries.dropFirst(scan.offset).prefix(scan.limit).map(place)
        return self.listed(list, scan)
    }

    func numbers(_ scan: NumberScan) -> Listed<Int64> {
        guard let entries = self.contents.zones[scan.zone]?.entries[scan.index] else { return Listed([]) }
        let value = Values(scan.value)
        let numbers = entries.entries[entries.offset(of: Pair(value, scan.start))...].prefix(scan.limit)
            .prefix { $0.key.first == value }.map(\.key.second)
        return self.listed(numbers, scan)
    }

    func countOfEntries(_ scan: EntryScan) -> Int { min(scan.limit, self.scanned(scan).count) }
}
