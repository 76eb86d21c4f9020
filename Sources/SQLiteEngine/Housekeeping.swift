import GRDB
import RecordStore

/// Work that may be done at any time and is done in pieces, within transactions of the writer.
final class Housekeeping {
    private let transaction: WriterTransaction
    private let database: Database
    let staleChanges: StaleChanges
    /// The database whose request IDs are looked at next.
    private var requestCursor: Int64 = 0

    /// Rows that one transaction sweeps.
    private static let sweepRowsMax = 200
    /// Old request IDs are looked for after so many new ones, and at most so many are removed: more than came.
    private static let requestsBetween = 250
    private static let requestsMax = 500

    init(transaction: WriterTransaction, database: Database) {
        self.transaction = transaction
        self.database = database
        self.staleChanges = StaleChanges(transaction: transaction)
    }

    /// Removes some of what deleted zones left.
    func sweep() throws(StorageFailure) {
        guard self.transaction.mayHaveSweepWork else { return }
        do {
            guard let zone = try Row.fetchOne(self.database, sql: "SELECT database, zone FROM sweep LIMIT 1")
            else {
                self.transaction.mayHaveSweepWork = false
                return
            }
            let key: StatementArguments = [zone[0] as Int64, zone[1] as Int64]
            for (table, columns) in [
                ("record", "name"), ("tombstone", "name"), ("hold", "target, holder"),
                ("change", "position"),
            ] {
                try self.database.execute(
                    sql: """
                        DELETE FROM \(table) WHERE database = ?1 AND zone = ?2 AND (\(columns)) IN
                        (SELECT \(columns) FROM \(table) WHERE database = ?1 AND zone = ?2
                        LIMIT \(Self.sweepRowsMax))
                        """,
                    arguments: key
                )
                if self.database.changesCount > 0 { return }
            }
            try self.database.execute(
                sql: "DELETE FROM sweep WHERE database = ? AND zone = ?",
                arguments: key
            )
        } catch {
            throw StorageFailure(error)
        }
    }

    /// Removes some request IDs that are refused by now because of their age.
    func forgetRequests(olderThanMilliseconds oldest: Int64) throws(StorageFailure) {
        guard self.transaction.requestsStored >= Self.requestsBetween, oldest > 0 else { return }
        self.transaction.requestsStored = 0
        // The least ID of the oldest millisecond that is still accepted: IDs begin with their time.
        let bound = RequestIDBound.data(milliseconds: oldest)
        do {
            try self.database.execute(
                sql: """
                    DELETE FROM request WHERE database = ?1 AND id IN
                    (SELECT id FROM request WHERE database = ?1 AND id < ?2 LIMIT \(Self.requestsMax))
                    """,
                arguments: [self.requestCursor, bound]
            )
            guard self.database.changesCount < Self.requestsMax else { return }
            self.requestCursor =
                try Int64.fetchOne(
                    self.database,
                    sql: "SELECT min(database) FROM request WHERE database > ?",
                    arguments: [self.requestCursor]
                ) ?? 0
        } catch {
            throw StorageFailure(error)
        }
    }
}
