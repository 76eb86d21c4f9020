import GRDB
import RecordModel
import StorageContract

/// The rows that housekeeping reads and removes.
///
/// Its statements are rare: all but one are compiled when they are needed.
final class HousekeepingRows: HousekeepingTransaction {
    private let writer: WriterTransaction
    private let database: Database
    private let records: HotStatement

    init(_ transaction: WriterTransaction, database: Database) throws(StorageFailure) {
        guard let connection = database.sqliteConnection else { throw .unexpected(code: 0) }
        self.writer = transaction
        self.database = database
        self.records = try HotStatement(
            """
            SELECT \(RecordColumns.names), database, zone, name, EXISTS (
                SELECT 1 FROM zone WHERE zone.database = record.database AND zone.number = record.zone)
            FROM record WHERE record.number >= ? AND record.number < ? ORDER BY record.number
            """,
            on: connection
        )
    }

    var transaction: any WriteTransaction { self.writer }

    // MARK: Pending work

    func mayHave(_ kind: HousekeepingKind) -> Bool {
        switch kind {
        case .views: self.writer.work.mayBeViews
        case .sweep: self.writer.work.mayBeSweeps
        case .indexes: self.writer.work.mayBeIndexes
        }
    }

    func finished(_ kind: HousekeepingKind) {
        switch kind {
        case .views: self.writer.work.mayBeViews = false
        case .sweep: self.writer.work.mayBeSweeps = false
        case .indexes: self.writer.work.mayBeIndexes = false
        }
    }

    // MARK: Removals

    func remove(_ rows: UndeclaredRows, of zone: ZoneKey, limit: Int) throws(StorageFailure) -> Int {
        if rows == .records { return try self.removeRecords(of: zone, limit: limit) }
        guard let (table, columns) = rows.table else {
            return try self.writer.entries.remove(ofIndex: nil, in: zone, limit: limit).count
        }
        return try self.execute(
            """
            DELETE FROM \(table) WHERE database = ?1 AND zone = ?2 AND (\(columns)) IN
            (SELECT \(columns) FROM \(table) WHERE database = ?1 AND zone = ?2 LIMIT ?3)
            """,
            [zone.database.rawValue, zone.number, limit]
        )
    }

    /// Stops with the record that takes the total size of bodies beyond a bound: each of their
    /// pages is overwritten.
    private func removeRecords(of zone: ZoneKey, limit: Int) throws(StorageFailure) -> Int {
        try self.execute(
            """
            DELETE FROM record WHERE number IN (
                SELECT number FROM (
                    SELECT number, size, sum(size) OVER (ROWS UNBOUNDED PRECEDING) AS total FROM (
                        SELECT number, length(body) AS size FROM record
                        WHERE database = ?1 AND zone = ?2 LIMIT ?3
                    )
                ) WHERE total - size < ?4
            )
            """,
            [zone.database.rawValue, zone.number, limit, Bounds.defaults.cascadeBytesMax]
        )
    }

    func zoneWithTombstones(after zone: ZoneKey?) throws(StorageFailure) -> ZoneKey? {
        do {
            return try Row.fetchOne(
                self.database,
                sql: """
                    SELECT database, zone FROM tombstone WHERE (database, zone) > (?, ?)
                    ORDER BY database, zone LIMIT 1
                    """,
                arguments: [zone?.database.rawValue ?? .min, zone?.number ?? .min]
            ).map { ZoneKey(database: DatabaseID(rawValue: $0[0]), number: $0[1]) }
        } catch {
            throw StorageFailure(error)
        }
    }

    func removeTombstones(
        of zone: ZoneKey,
        beforeMilliseconds time: Int64,
        limit: Int
    ) throws(StorageFailure) -> RemovedRows {
        var removed = RemovedRows()
        let key: StatementArguments = [zone.database.rawValue, zone.number]
        do {
            let rows = try Row.fetchCursor(
                self.database,
                sql: """
                    SELECT position, deleted_ms, \(RowBytes.SQL.tombstone) FROM tombstone
                    WHERE database = ? AND zone = ? ORDER BY position LIMIT ?
                    """,
                arguments: key + [limit]
            )
            while let row = try rows.next(), (row[1] as Int64) < time {
                removed.lastPosition = row[0]
                removed.count += 1
                removed.bytes += row[2]
            }
        } catch {
            throw StorageFailure(error)
        }
        guard removed.count > 0 else { return removed }
        try self.execute(
            "DELETE FROM tombstone WHERE database = ? AND zone = ? AND position <= ?",
            key + [removed.lastPosition]
        )
        return removed
    }

    // MARK: Indexes

    func indexedRecords(
        ofTypes types: Set<Int64>,
        from number: Int64,
        below end: Int64?,
        bounds: IndexedRecords.Bounds
    ) throws(StorageFailure) -> IndexedRecords {
        let statement = self.records
        statement.bind(1, number)
        statement.bind(2, end ?? .max)
        var piece = IndexedRecords()
        var (bytes, others) = (0, 0)
        while try statement.step() {
            let number = statement.integer(RecordColumns.number)
            guard bytes < bounds.bytes, piece.records.count < bounds.records, others < bounds.others else {
                statement.reset()
                piece.next = number
                return piece
            }
            let type = statement.integer(RecordColumns.type)
            // A record of a zone that is being swept is in no zone any more.
            guard types.contains(type), statement.integer(RecordColumns.count + 3) != 0 else {
                others += 1
                continue
            }
            let record = try statement.record(self.writer.names)
            let zone = ZoneKey(
                database: DatabaseID(rawValue: statement.integer(RecordColumns.count)),
                number: statement.integer(RecordColumns.count + 1)
            )
            bytes += record.body.bytes.count
            piece.records.append(
                IndexedRecords.Element(
                    key: RecordKey(zone: zone, number: number),
                    type: type,
                    name: statement.text(RecordColumns.count + 2),
                    record: record
                )
            )
        }
        return piece
    }

    func add(_ entries: [RecordEntries]) throws(StorageFailure) {
        for element in entries {
            let key = element.key
            try self.writer.entries.add(element.entries, of: key.number, in: key.zone)
        }
    }

    func removeEntries(
        ofIndex index: Int64,
        in zone: ZoneKey,
        limit: Int
    ) throws(StorageFailure) -> RemovedRows {
        let sizes = try self.writer.entries.remove(ofIndex: index, in: zone, limit: limit)
        return RemovedRows(count: sizes.count, bytes: sizes.reduce(0) { $0 + RowBytes.entryBase + $1 })
    }

    // MARK: Stale changes

    var staleChanges: StaleChanges {
        StaleChanges(
            waiting: self.writer.order.staleWaiting,
            mayBeMore: self.writer.order.mayBeStale,
            isInRound: self.writer.order.staleRound != nil
        )
    }

    func removeStaleChanges(roundMax: Int, readsMax: Int) throws(StorageFailure) {
        try StaleChangeBlocks(self.writer.order).remove(roundMax: roundMax, blocksMax: readsMax)
    }

    // MARK: SQL

    /// Returns the number of changed rows.
    @discardableResult
    private func execute(_ sql: String, _ arguments: StatementArguments) throws(StorageFailure) -> Int {
        do {
            try self.database.execute(sql: sql, arguments: arguments)
            return self.database.changesCount
        } catch {
            throw StorageFailure(error)
        }
    }
}

extension UndeclaredRows {
    /// The table, and the columns that identify its rows in a zone; `nil` for records, and for
    /// entries, because their key is no column.
    fileprivate var table: (name: String, columns: String)? {
        switch self {
        case .tombstones: ("tombstone", "name")
        case .references: ("hold", "target, holder")
        case .changes: ("change", "position")
        case .records, .entries: nil
        }
    }
}
