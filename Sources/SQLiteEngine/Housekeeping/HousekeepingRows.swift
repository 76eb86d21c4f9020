import Foundation
import GRDB
import RecordModel
import RecordStore

/// The rows that the rules of housekeeping remove.
///
/// Rare statements, so none is kept compiled.
final class HousekeepingRows: HousekeepingTransaction {
    private let transaction: WriterTransaction
    private let database: Database

    init(transaction: WriterTransaction, database: Database) {
        self.transaction = transaction
        self.database = database
    }

    var tables: any TableWriter { self.transaction }

    // MARK: Sweeping

    func nextSweptZone() throws(StorageFailure) -> SweptZone? {
        let row = try self.firstRow("SELECT database, zone, byte_count FROM sweep LIMIT 1")
        return row.map { SweptZone(zone: ZoneKey(row: $0), bytes: $0[2]) }
    }

    func remove(_ rows: SweptRows, of zone: ZoneKey, limit: Int) throws(StorageFailure) -> Int {
        guard let (table, columns) = rows.table else {
            return try self.transaction.removeUses(inZone: zone, limit: limit)
        }
        return try self.execute(
            """
            DELETE FROM \(table) WHERE database = ?1 AND zone = ?2 AND (\(columns)) IN
            (SELECT \(columns) FROM \(table) WHERE database = ?1 AND zone = ?2 LIMIT ?3)
            """,
            [zone.database.rawValue, zone.number, limit]
        )
    }

    func finishSweep(of swept: SweptZone) throws(StorageFailure) {
        let zone = swept.zone
        try self.execute(
            "DELETE FROM sweep WHERE database = ? AND zone = ?",
            [zone.database.rawValue, zone.number]
        )
        self.transaction.order.pending.count(rowBytes: -swept.bytes, in: zone.database)
    }

    // MARK: Outcomes of requests

    func databaseWithOutcomes(after database: DatabaseID?) throws(StorageFailure) -> DatabaseID? {
        try self.database(in: "request", after: database)
    }

    func removeOutcomes(
        below bound: RequestID,
        in database: DatabaseID,
        limit: Int
    ) throws(StorageFailure) -> Int {
        let removed = try self.bytes(
            """
            DELETE FROM request WHERE database = ?1 AND id IN
            (SELECT id FROM request WHERE database = ?1 AND id < ?2 LIMIT ?3)
            RETURNING \(RowBytes.SQL.request)
            """,
            [database.rawValue, Data(bound.bytes), limit]
        )
        if !removed.isEmpty {
            self.transaction.order.pending.count(rowBytes: -removed.reduce(0, +), in: database)
        }
        return removed.count
    }

    // MARK: Tombstones

    func zone(with rows: ExpiringRows, after zone: ZoneKey?) throws(StorageFailure) -> ZoneKey? {
        try self.firstRow(
            """
            SELECT database, zone FROM \(rows.table) WHERE (database, zone) > (?, ?)
            ORDER BY database, zone LIMIT 1
            """,
            [zone?.database.rawValue ?? .min, zone?.number ?? .min]
        ).map { ZoneKey(row: $0) }
    }

    func remove(
        _ rows: ExpiringRows,
        of zone: ZoneKey,
        beforeMilliseconds time: Int64,
        limit: Int
    ) throws(StorageFailure) -> Int {
        let removed: (rows: Int, bytes: Int)
        switch rows {
        case .tombstones:
            removed = try self.removeTombstones(
                "tombstone WHERE database = ? AND zone = ?",
                [zone.database.rawValue, zone.number],
                of: zone.database,
                RowBytes.SQL.tombstone,
                beforeMilliseconds: time,
                limit: limit
            )
        case .membershipChanges: removed = try self.removeMembershipChanges(of: zone, limit: limit)
        }
        // What is swept counts as a whole until its end.
        if removed.bytes > 0, try self.transaction.zones.isThere(zone) {
            self.transaction.order.pending.count(rowBytes: -removed.bytes, in: zone)
        }
        return removed.rows
    }

    private func removeMembershipChanges(
        of zone: ZoneKey,
        limit: Int
    ) throws(StorageFailure) -> (rows: Int, bytes: Int) {
        let removed = try self.bytes(
            """
            DELETE FROM cover_change WHERE database = ?1 AND zone = ?2 AND position IN
            (SELECT position FROM cover_change WHERE database = ?1 AND zone = ?2 AND position <=
            (SELECT tombstones_gone_through FROM database WHERE number = ?1) LIMIT ?3)
            RETURNING \(RowBytes.SQL.coverChange)
            """,
            [zone.database.rawValue, zone.number, limit]
        )
        return (removed.count, removed.reduce(0, +))
    }

    func databaseWithZoneTombstones(after database: DatabaseID?) throws(StorageFailure) -> DatabaseID? {
        try self.database(in: "zone_tombstone", after: database)
    }

    func removeZoneTombstones(
        of database: DatabaseID,
        beforeMilliseconds time: Int64,
        limit: Int
    ) throws(StorageFailure) -> Int {
        let removed = try self.removeTombstones(
            "zone_tombstone WHERE database = ?",
            [database.rawValue],
            of: database,
            RowBytes.SQL.zoneTombstone,
            beforeMilliseconds: time,
            limit: limit
        )
        self.transaction.order.pending.count(rowBytes: -removed.bytes, in: database)
        return removed.rows
    }

    /// `source` is a table with a condition on the key.
    private func removeTombstones(
        _ source: String,
        _ key: StatementArguments,
        of database: DatabaseID,
        _ rowBytes: String,
        beforeMilliseconds time: Int64,
        limit: Int
    ) throws(StorageFailure) -> (rows: Int, bytes: Int) {
        do {
            let rows = try Row.fetchCursor(
                self.database,
                sql: "SELECT position, deleted_ms, \(rowBytes) FROM \(source) ORDER BY position LIMIT ?",
                arguments: key + [limit]
            )
            var (count, bytes) = (0, 0)
            var through: Int64 = 0
            while let row = try rows.next(), (row[1] as Int64) < time {
                through = row[0]
                count += 1
                bytes += row[2]
            }
            guard count > 0 else { return (0, 0) }
            try self.execute("DELETE FROM \(source) AND position <= ?", key + [through])
            try self.execute(
                """
                UPDATE database SET tombstones_gone_through = max(tombstones_gone_through, ?) WHERE number = ?
                """,
                [through, database.rawValue]
            )
            return (count, bytes)
        } catch {
            throw StorageFailure(error)
        }
    }

    // MARK: SQL

    private func database(
        in table: String,
        after database: DatabaseID?
    ) throws(StorageFailure) -> DatabaseID? {
        let row = try self.firstRow(
            "SELECT min(database) FROM \(table) WHERE database > ?",
            [database?.rawValue ?? .min]
        )
        let number: Int64? = row?[0]
        return number.map { DatabaseID(rawValue: $0) }
    }

    private func firstRow(
        _ sql: String,
        _ arguments: StatementArguments = StatementArguments()
    ) throws(StorageFailure) -> Row? {
        do {
            return try Row.fetchOne(self.database, sql: sql, arguments: arguments)
        } catch {
            throw StorageFailure(error)
        }
    }

    /// What each row took that went.
    private func bytes(_ sql: String, _ arguments: StatementArguments) throws(StorageFailure) -> [Int] {
        do {
            return try Int.fetchAll(self.database, sql: sql, arguments: arguments)
        } catch {
            throw StorageFailure(error)
        }
    }

    /// Returns how many rows changed.
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

extension SweptRows {
    /// The table, and what tells its rows in a zone apart; `nil` if their assets have to know as well.
    fileprivate var table: (name: String, columns: String)? {
        switch self {
        case .assetUses: nil
        case .records: ("record", "name")
        case .tombstones: ("tombstone", "name")
        case .references: ("hold", "target, holder")
        case .changes: ("change", "position")
        case .entries: ("entry", "field, value, record")
        case .membershipChanges: ("cover_change", "position")
        case .shareTokens: ("share_token", "token")
        case .tokenExpiries: ("share_expiry", "reader")
        }
    }
}

extension ExpiringRows {
    fileprivate var table: String {
        switch self {
        case .tombstones: "tombstone"
        case .membershipChanges: "cover_change"
        }
    }
}

extension ZoneKey {
    /// From a row that begins with database and number.
    fileprivate init(row: Row) {
        self.init(database: DatabaseID(rawValue: row[0]), number: row[1])
    }
}
