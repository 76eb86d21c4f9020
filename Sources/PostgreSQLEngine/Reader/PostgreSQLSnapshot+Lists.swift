import RecordModel
import RecordStore

/// Lists of a snapshot: changes, deletions, zones, entries of indexes.
extension PostgreSQLSnapshot {
    // MARK: Changes

    static let deletions = SQL(
        """
        SELECT d.position, d.name, t.name, c.record_name, d.covered_by FROM tidemark.tombstone AS d
        LEFT JOIN tidemark."record_type" AS t ON t.number = d.type
        LEFT JOIN tidemark."author" AS c ON c.number = d.creator
        WHERE d.database = $1 AND d.zone = $2 AND d.position > $3 ORDER BY d.position LIMIT $4
        """
    )
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
    ) throws(StorageFailure) -> [FeedChange] {
        let found: ChangedRecords
        if let prefetched = self.feed.changes(after: position, in: zone) {
            found = prefetched
        } else {
            let parameters = ChangedRecords.parameters(after: position, in: zone, limit: limit)
            found = ChangedRecords(try self.rows(ChangedRecords.sql, parameters))
        }
        self.keep(try found.records(on: self.connection), in: zone)
        let changes = found.changes
        self.expect(changes.map(\.record))
        return changes
    }

    func deletions(
        after position: Int64,
        in zone: ZoneKey,
        limit: Int
    ) throws(StorageFailure) -> [FeedDeletion] {
        let rows: ResultRows
        if let prefetched = self.feed.deletions(after: position, in: zone) {
            rows = prefetched
        } else {
            let parameters = [SQLValue.integer(position), .integer(Int64(limit))]
            rows = try self.rows(Self.deletions, zone.parameters + parameters)
        }
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
        let rows = try self.rows(
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
        let rows = try self.rows(
            Self.zoneDeletions,
            [.integer(database.rawValue), .integer(position), .integer(Int64(limit))]
        )
        return (0..<rows.count).map {
            FeedZoneDeletion(position: rows.integer($0, 0), name: rows.text($0, 1))
        }
    }

    // MARK: Indexes

    /// The entries that a scan reads, without its limit and offset.
    private struct Scan {
        var conditions = "database = $1 AND zone = $2 AND index_number = $3 AND value >= $4"
        var parameters: [SQLValue]

        init(_ scan: EntryScan, of index: Int64, in zone: ZoneKey) {
            self.parameters = zone.parameters + [.integer(index), .bytes(scan.range.lower)]
            if let upper = scan.range.upper { self.add("value <", [.bytes(upper)]) }
            if let after = scan.after {
                let comparison = scan.isDescending ? "<" : ">"
                self.add("(value, record) \(comparison)", [.bytes(after.value), .integer(after.record)])
            }
        }

        private mutating func add(_ comparison: String, _ values: [SQLValue]) {
            let names = values.indices.map { "$\(self.parameters.count + $0 + 1)" }.joined(separator: ", ")
            self.conditions += " AND \(comparison) (\(names))"
            self.parameters += values
        }

        /// The numbers of the parameters that follow.
        func number(_ offset: Int) -> String { "$\(self.parameters.count + offset)" }
    }

    func entries(
        _ scan: EntryScan,
        of index: Int64,
        in zone: ZoneKey,
        limit: Int
    ) throws(StorageFailure) -> [EntryPosition] {
        let read = Scan(scan, of: index, in: zone)
        let listed = ListedRecords.Entries(
            columns: "value, record",
            conditions: read.conditions,
            order: scan.isDescending ? "value DESC, record DESC" : "value, record",
            limit: "\(read.number(1)) OFFSET \(read.number(2))"
        )
        let (rows, first) = try self.list(
            ListedRecords.sql(listed, bytesMax: scan.leadsToRecords ? read.number(3) : nil),
            read.parameters + [.integer(Int64(limit)), .integer(Int64(scan.offset))],
            in: zone,
            recordsMax: scan.leadsToRecords ? limit : nil
        )
        let entries = (0..<rows.count).map {
            EntryPosition(value: rows.bytes($0, first), record: rows.integer($0, first + 1))
        }
        self.expect(entries.map(\.record))
        return entries
    }

    private static let listHaving = ListedRecords.Entries(
        columns: "record",
        conditions: "database = $1 AND zone = $2 AND index_number = $3 AND value = $4 AND record >= $5",
        order: "record",
        limit: "$6"
    )
    private static let having = ListedRecords.sql(PostgreSQLSnapshot.listHaving, bytesMax: nil)
    static let havingWithRecords = ListedRecords.sql(PostgreSQLSnapshot.listHaving, bytesMax: "$7")

    /// Lists entries, and keeps their records if those come along.
    ///
    /// `recordsMax` is the number of these, at most. Returns the rows, and their first column of an entry.
    private func list(
        _ sql: SQL,
        _ parameters: [SQLValue],
        in zone: ZoneKey,
        recordsMax: Int?
    ) throws(StorageFailure) -> (rows: ResultRows, first: Int) {
        guard let recordsMax else { return (try self.rows(sql, parameters), 0) }
        let rows = try self.rows(sql, parameters + [.integer(ListedRecords.share(of: recordsMax))])
        self.keep(try RecordRows(rows, on: self.connection), in: zone)
        return (rows, RecordColumns.count)
    }

    func records(
        having value: [UInt8],
        in index: Int64,
        of zone: ZoneKey,
        from number: Int64,
        limit: Int,
        leadsToRecords: Bool
    ) throws(StorageFailure) -> [Int64] {
        let (rows, first) = try self.list(
            leadsToRecords ? Self.havingWithRecords : Self.having,
            zone.parameters + [.integer(index), .bytes(value), .integer(number), .integer(Int64(limit))],
            in: zone,
            recordsMax: leadsToRecords ? limit : nil
        )
        let numbers = (0..<rows.count).map { rows.integer($0, first) }
        self.expect(numbers)
        return numbers
    }

    func countOfEntries(
        _ scan: EntryScan,
        of index: Int64,
        in zone: ZoneKey,
        limit: Int
    ) throws(StorageFailure) -> Int {
        let read = Scan(scan, of: index, in: zone)
        let rows = try self.rows(
            SQL(
                """
                SELECT count(*) FROM (
                    SELECT 1 FROM tidemark.index_entry WHERE \(read.conditions) LIMIT \(read.number(1))
                ) AS found
                """
            ),
            read.parameters + [.integer(Int64(limit))]
        )
        return Int(rows.integer(0, 0))
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
