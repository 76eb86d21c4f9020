import RecordModel
import StorageContract

/// Removes the outcomes of requests that are rejected by now because of their age, in pieces.
///
/// A pass goes through all databases some times an hour, also while no client writes: outcomes
/// count for quotas, and a user who has no room left sends no request. Beside the pass, one
/// database is checked whenever many outcomes have been stored.
struct OutcomeExpiry: Sendable {
    private static let passEveryMilliseconds: Int64 = 600_000
    /// Maximum number of databases that one transaction of a pass reads.
    private static let stepsMax = 20
    /// Stored outcomes after which old ones are looked for without a pass.
    ///
    /// At most `outcomesMax` are then removed: more than came.
    private static let storedBetween = 250
    static let outcomesMax = 500

    /// The database that was read last and may have more; `nil` if the next is the first of all.
    private var database: DatabaseID?
    private var isPassing = false
    private var nextPassMilliseconds = Int64.min

    /// Whether outcomes may be due for removal while no request waits.
    func isWanted(nowMilliseconds now: Int64) -> Bool {
        self.isPassing || now >= self.nextPassMilliseconds
    }

    /// Removes some.
    mutating func step(
        olderThanMilliseconds oldest: Int64,
        in transaction: any WriteTransaction
    ) throws(StorageFailure) {
        let now = transaction.nowMilliseconds
        let knowledge = transaction.knowledge
        let isWanted = self.isWanted(nowMilliseconds: now)
        guard isWanted || knowledge.outcomesStored >= Self.storedBetween else { return }
        knowledge.outcomesStored = 0
        if isWanted, !self.isPassing {
            self.isPassing = true
            self.database = nil
            self.nextPassMilliseconds = now + Self.passEveryMilliseconds
        }
        guard oldest > 0 else {
            self.isPassing = false
            return
        }
        for _ in 0..<(self.isPassing ? Self.stepsMax : 1) {
            guard try self.removeSome(olderThanMilliseconds: oldest, in: transaction) == 0,
                self.database != nil
            else { return }
        }
    }

    /// Returns how many; moves on when the database has no more.
    private mutating func removeSome(
        olderThanMilliseconds oldest: Int64,
        in transaction: any WriteTransaction
    ) throws(StorageFailure) -> Int {
        var removed = 0
        var behind = RowRange(RequestRow.byKey)
        if let database = self.database {
            removed = try Self.remove(olderThanMilliseconds: oldest, of: database, in: transaction)
            behind = behind.after(database)
        }
        guard removed < Self.outcomesMax else { return removed }
        self.database = try transaction.rows(behind, limit: 1).first?.database
        if self.database == nil { self.isPassing = false }
        return removed
    }

    /// Removes old outcomes of one database, and returns how many.
    private static func remove(
        olderThanMilliseconds oldest: Int64,
        of database: DatabaseID,
        in transaction: any WriteTransaction
    ) throws(StorageFailure) -> Int {
        // The least ID of the oldest millisecond that is still accepted: IDs begin with their time.
        let bound = RequestID(high: UInt64(truncatingIfNeeded: oldest) << 16, low: 0)
        let old = RowRange(RequestRow.byKey, database).descending.after(bound.bytes)
        let rows = try transaction.rows(old, limit: self.outcomesMax)
        guard !rows.isEmpty else { return 0 }
        try transaction.delete(old, limit: rows.count)
        let bytes = rows.reduce(0) { $0 + RowBytes.outcome($1.outcome.count) }
        transaction.count(rowBytes: -bytes, in: database)
        return rows.count
    }
}
