import RecordModel
import StorageContract

/// Lists of a snapshot: changes, deletions, zones, entries of indexes.
extension PostgreSQLSnapshot {
    // MARK: Changes

    private static let zones = SQL(
        """
        SELECT name, number, position, record_count, byte_count, client_token FROM tidemark."zone"
        WHERE database = $1 AND position > $2 ORDER BY position LIMIT $3
        """
    )
    /// The last deletion of each name.
    private static let zoneDeletions = SQL(
        """
        SELECT position, name FROM (
            SELECT max(position) AS position, name FROM tidemark."zone_tombstone"
            WHERE database = $1 GROUP BY name
        ) AS deleted WHERE position > $2 ORDER BY position LIMIT $3
        """
    )

    func changes(
        after position: Int64,
        in zone: ZoneKey,
        limit: Int
    ) throws(StorageFailure) -> Listed<FeedChange> {
        let rows = try self.answer(.changes(after: position, in: zone, limit: limit))
        let changes = (0..<rows.count).map { row in
            FeedChange(
                position: rows.integer(row, RecordColumns.count),
                record: rows.integer(row, RecordColumns.count + 1)
            )
        }
        return Listed(changes, try self.records(changes.map(\.record), of: rows, in: zone))
    }

    func deletions(
        after position: Int64,
        in zone: ZoneKey,
        limit: Int
    ) throws(StorageFailure) -> [FeedDeletion] {
        let rows = try self.answer(.deletions(after: position, in: zone, limit: limit))
        return (0..<rows.count).map { row in
            FeedDeletion(
                position: rows.integer(row, 0),
                name: rows.text(row, 1),
                recordType: rows.text(row, 2),
                createdBy: rows.text(row, 3),
                share: rows.optionalInteger(row, 4).map { ShareNumber(rawValue: $0) }
            )
        }
    }

    func zones(
        of database: DatabaseID,
        after position: Int64,
        limit: Int
    ) throws(StorageFailure) -> [FeedZone] {
        let rows = try self.connection.rows(
            Self.zones,
            [.integer(database.rawValue), .integer(position), .integer(Int64(limit))]
        )
        return (0..<rows.count).map { row in
            var zone = FeedZone(
                name: rows.text(row, 0),
                key: ZoneKey(database: database, number: rows.integer(row, 1)),
                position: rows.integer(row, 2),
                recordCount: rows.integer(row, 3),
                byteCount: rows.integer(row, 4)
            )
            zone.clientToken = rows.bytes(row, 5)
            return zone
        }
    }

    func zoneDeletions(
        of database: DatabaseID,
        after position: Int64,
        limit: Int
    ) throws(StorageFailure) -> [FeedZoneDeletion] {
        let rows = try self.connection.rows(
            Self.zoneDeletions,
            [.integer(database.rawValue), .integer(position), .integer(Int64(limit))]
        )
        return (0..<rows.count).map {
            FeedZoneDeletion(position: rows.integer($0, 0), name: rows.text($0, 1))
        }
    }

    // MARK: Indexes

    func entries(_ scan: EntryScan) throws(StorageFailure) -> Listed<EntryPosition> {
        let rows = try self.answer(.entries(scan))
        let first = scan.hasRecords ? RecordColumns.count : 0
        let entries = (0..<rows.count).map {
            EntryPosition(value: rows.bytes($0, first), record: rows.integer($0, first + 1))
        }
        guard scan.hasRecords else { return Listed(entries) }
        return Listed(entries, try self.records(entries.map(\.record), of: rows, in: scan.zone))
    }

    func numbers(_ scan: NumberScan) throws(StorageFailure) -> Listed<Int64> {
        let rows = try self.answer(.numbers(scan))
        let numbers = (0..<rows.count).map { rows.integer($0, scan.hasRecords ? RecordColumns.count : 0) }
        guard scan.hasRecords else { return Listed(numbers) }
        return Listed(numbers, try self.records(numbers, of: rows, in: scan.zone))
    }

    func countOfEntries(_ scan: EntryScan) throws(StorageFailure) -> Int {
        Int(try self.answer(.countOfEntries(scan)).integer(0, 0))
    }
}

/// Statements that a snapshot and a transaction have in common.
extension PostgreSQLConnection {
    private static let zone = SQL(
        """
        SELECT number, target_database, target_zone FROM tidemark."zone" WHERE database = $1 AND name = $2
        """
    )
    private static let hasEntries = SQL(
        """
        SELECT EXISTS (
            SELECT 1 FROM tidemark."database" AS d JOIN tidemark."zone" AS z ON z.database = d.number
            JOIN tidemark.index_entry AS e
                ON e.database = z.database AND e.zone = z.number AND e.index_number = $1
            WHERE d.environment = $2
        )
        """,
        reach: .store
    )

    /// The key of a zone's contents; in a shared database that of the owner's zone.
    func zone(named name: String, in database: DatabaseID) throws(StorageFailure) -> ZoneKey? {
        guard !name.utf8.contains(0) else { return nil }
        let rows = try self.rows(Self.zone, [.integer(database.rawValue), .text(name)])
        guard !rows.isEmpty else { return nil }
        guard let target = rows.optionalInteger(0, 1) else {
            return ZoneKey(database: database, number: rows.integer(0, 0))
        }
        return ZoneKey(database: DatabaseID(rawValue: target), number: rows.integer(0, 2))
    }

    func hasEntries(ofIndex index: Int64, in environment: EnvironmentID) throws(StorageFailure) -> Bool {
        let rows = try self.rows(Self.hasEntries, [.integer(index), .integer(environment.rawValue)])
        return rows.integer(0, 0) != 0
    }
}
