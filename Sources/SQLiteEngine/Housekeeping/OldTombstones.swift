import GRDB
import RecordModel
import RecordStore

/// Removes tombstones that are older than the operator wants them kept, in pieces, and notes how far they are gone; with them what no token is good
/// for any more of which records came under shares or left them.
///
/// A pass goes through all zones and databases once an hour; within each in the order of positions, up to the first that is
/// young enough.
final class OldTombstones {
    private enum Stage {
        case records(after: (database: Int64, zone: Int64))
        case zones(afterDatabase: Int64)
        case covers(after: (database: Int64, zone: Int64))
    }

    private let transaction: WriterTransaction
    private let database: Database
    private let retentionMilliseconds: Int64
    /// `nil`: no pass is under way.
    private var stage: Stage?
    private var nextPassMilliseconds = Int64.min

    private static let passEveryMilliseconds: Int64 = 3_600_000
    /// Rows that one transaction removes, and zones or databases that it looks at.
    private static let rowsMax = 200
    private static let stepsMax = 20

    init(transaction: WriterTransaction, database: Database, retentionSeconds: Int) {
        self.transaction = transaction
        self.database = database
        self.retentionMilliseconds = Int64(retentionSeconds) * 1_000
    }

    func isWanted(nowMilliseconds now: Int64) -> Bool {
        self.stage != nil || now >= self.nextPassMilliseconds
    }

    /// Removes some.
    func remove(nowMilliseconds now: Int64) throws(StorageFailure) {
        guard self.isWanted(nowMilliseconds: now) else { return }
        if self.stage == nil {
            self.stage = .records(after: (.min, .min))
            self.nextPassMilliseconds = now + Self.passEveryMilliseconds
        }
        do {
            for _ in 0..<Self.stepsMax {
                guard let stage = self.stage else { return }
                let removed = try self.step(stage, deletedBefore: now - self.retentionMilliseconds)
                if removed > 0 { return }
            }
        } catch {
            throw StorageFailure(error)
        }
    }

    /// Returns how many were removed.
    private func step(_ stage: Stage, deletedBefore bound: Int64) throws -> Int {
        switch stage {
        case .records(let last):
            let next = try Row.fetchOne(
                self.database,
                sql: """
                    SELECT database, zone FROM tombstone WHERE (database, zone) > (?, ?)
                    ORDER BY database, zone LIMIT 1
                    """,
                arguments: [last.database, last.zone]
            )
            guard let next else {
                self.stage = .zones(afterDatabase: .min)
                return 0
            }
            let key: (database: Int64, zone: Int64) = (next[0], next[1])
            let removed = try self.remove(
                from: "tombstone",
                where: "database = ? AND zone = ?",
                [key.database, key.zone],
                of: key.database,
                RowBytes.SQL.tombstone,
                deletedBefore: bound
            )
            try self.count(removed.bytes, of: key)
            // What is full may have more.
            if removed.rows < Self.rowsMax { self.stage = .records(after: key) }
            return removed.rows
        case .zones(let last):
            let next = try Int64.fetchOne(
                self.database,
                sql: "SELECT min(database) FROM zone_tombstone WHERE database > ?",
                arguments: [last]
            )
            guard let next else {
                self.stage = .covers(after: (.min, .min))
                return 0
            }
            let removed = try self.remove(
                from: "zone_tombstone",
                where: "database = ?",
                [next],
                of: next,
                RowBytes.SQL.zoneTombstone,
                deletedBefore: bound
            )
            self.transaction.changes.count(rowBytes: -removed.bytes, in: DatabaseID(rawValue: next))
            if removed.rows < Self.rowsMax { self.stage = .zones(afterDatabase: next) }
            return removed.rows
        case .covers(let last):
            return try self.removeCovers(after: last)
        }
    }

    private func removeCovers(after last: (database: Int64, zone: Int64)) throws -> Int {
        let next = try Row.fetchOne(
            self.database,
            sql: """
                SELECT database, zone FROM cover_change WHERE (database, zone) > (?, ?)
                ORDER BY database, zone LIMIT 1
                """,
            arguments: [last.database, last.zone]
        )
        guard let next else {
            self.stage = nil
            return 0
        }
        let key: (database: Int64, zone: Int64) = (next[0], next[1])
        let removed = try Int.fetchAll(
            self.database,
            sql: """
                DELETE FROM cover_change WHERE database = ?1 AND zone = ?2 AND position IN
                (SELECT position FROM cover_change WHERE database = ?1 AND zone = ?2 AND position <=
                (SELECT tombstones_gone_through FROM database WHERE number = ?1) LIMIT \(Self.rowsMax))
                RETURNING \(RowBytes.SQL.coverChange)
                """,
            arguments: [key.database, key.zone]
        )
        try self.count(removed.reduce(0, +), of: key)
        if removed.count < Self.rowsMax { self.stage = .covers(after: key) }
        return removed.count
    }

    /// Rows of a zone have gone: what is swept counts as a whole until its end.
    private func count(_ bytesGone: Int, of zone: (database: Int64, zone: Int64)) throws {
        guard bytesGone > 0 else { return }
        let key = ZoneKey(database: DatabaseID(rawValue: zone.database), number: zone.zone)
        guard try self.transaction.isThere(key) else { return }
        self.transaction.changes.count(rowBytes: -bytesGone, in: key)
    }

    private func remove(
        from table: String,
        where condition: String,
        _ key: StatementArguments,
        of number: Int64,
        _ rowBytes: String,
        deletedBefore bound: Int64
    ) throws -> (rows: Int, bytes: Int) {
        let rows = try Row.fetchCursor(
            self.database,
            sql: """
                SELECT position, deleted_ms, \(rowBytes) FROM \(table) WHERE \(condition)
                ORDER BY position LIMIT \(Self.rowsMax)
                """,
            arguments: key
        )
        var (count, bytes) = (0, 0)
        var through: Int64 = 0
        while let row = try rows.next(), (row[1] as Int64) < bound {
            through = row[0]
            count += 1
            bytes += row[2]
        }
        guard count > 0 else { return (0, 0) }
        try self.database.execute(
            sql: "DELETE FROM \(table) WHERE \(condition) AND position <= ?",
            arguments: key + [through]
        )
        try self.database.execute(
            sql: """
                UPDATE database SET tombstones_gone_through = max(tombstones_gone_through, ?) WHERE number = ?
                """,
            arguments: [through, number]
        )
        return (count, bytes)
    }
}
