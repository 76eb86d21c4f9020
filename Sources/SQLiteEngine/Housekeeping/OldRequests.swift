import GRDB
import RecordModel
import RecordStore

/// Removes the outcomes of requests that are refused by now because of their age, in pieces.
///
/// A pass goes through all databases some times an hour, also while nobody writes: outcomes count for quotas, and a user who has no room left
/// sends none. Beside it one database is looked at whenever many have been stored.
final class OldRequests {
    private let transaction: WriterTransaction
    private let database: Database
    /// The database that is looked at next.
    private var cursor: Int64 = 0
    private var isPassing = false
    private var nextPassMilliseconds = Int64.min

    private static let passEveryMilliseconds: Int64 = 600_000
    /// Databases that one transaction of a pass looks at.
    private static let stepsMax = 20
    /// Without a pass they are looked for after so many new ones, and at most so many are removed: more than came.
    private static let requestsBetween = 250
    private static let requestsMax = 500

    init(transaction: WriterTransaction, database: Database) {
        self.transaction = transaction
        self.database = database
    }

    func isWanted(nowMilliseconds now: Int64) -> Bool {
        self.isPassing || now >= self.nextPassMilliseconds
    }

    /// Removes some.
    func remove(olderThanMilliseconds oldest: Int64) throws(StorageFailure) {
        let now = self.transaction.nowMilliseconds
        let isWanted = self.isWanted(nowMilliseconds: now)
        guard isWanted || self.transaction.requestsStored >= Self.requestsBetween else { return }
        self.transaction.requestsStored = 0
        if isWanted, !self.isPassing {
            self.isPassing = true
            self.cursor = 0
            self.nextPassMilliseconds = now + Self.passEveryMilliseconds
        }
        guard oldest > 0 else {
            self.isPassing = false
            return
        }
        do {
            for _ in 0..<(self.isPassing ? Self.stepsMax : 1) {
                guard try self.removeSome(olderThanMilliseconds: oldest) == 0, self.cursor != 0 else {
                    return
                }
            }
        } catch {
            throw StorageFailure(error)
        }
    }

    /// Returns how many; moves on when the database has no more.
    private func removeSome(olderThanMilliseconds oldest: Int64) throws -> Int {
        let removed = try Int.fetchAll(
            self.database,
            sql: """
                DELETE FROM request WHERE database = ?1 AND id IN
                (SELECT id FROM request WHERE database = ?1 AND id < ?2 LIMIT \(Self.requestsMax))
                RETURNING \(RowBytes.SQL.request)
                """,
            // The least ID of the oldest millisecond that is still accepted: IDs begin with their time.
            arguments: [self.cursor, RequestIDBound.data(milliseconds: oldest)]
        )
        if !removed.isEmpty {
            let database = DatabaseID(rawValue: self.cursor)
            self.transaction.changes.count(rowBytes: -removed.reduce(0, +), in: database)
        }
        guard removed.count < Self.requestsMax else { return removed.count }
        let next = try Int64.fetchOne(
            self.database,
            sql: "SELECT min(database) FROM request WHERE database > ?",
            arguments: [self.cursor]
        )
        self.cursor = next ?? 0
        if next == nil { self.isPassing = false }
        return removed.count
    }
}
