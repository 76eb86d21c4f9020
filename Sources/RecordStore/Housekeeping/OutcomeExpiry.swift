import RecordModel

/// Removes the outcomes of requests that are rejected by now because of their age, in pieces.
///
/// A pass goes through all databases some times an hour, also while nobody writes: outcomes count for
/// quotas, and a user who has no room left sends no request. Beside the pass one database is looked
/// at whenever many outcomes have been stored.
package struct OutcomeExpiry: Sendable {
    private static let passEveryMilliseconds: Int64 = 600_000
    /// Databases that one transaction of a pass looks at.
    private static let stepsMax = 20
    /// Stored outcomes after which old ones are looked for without a pass.
    ///
    /// At most `outcomesMax` are then removed: more than came.
    private static let storedBetween = 250
    static let outcomesMax = 500

    /// The database that was looked at last and may have more; `nil` if the next is the first of all.
    private var database: DatabaseID?
    private var isPassing = false
    private var nextPassMilliseconds = Int64.min
    /// Outcomes stored since it was looked for old ones.
    private var stored = 0

    package init() {}

    package mutating func outcomesStored(_ count: Int) { self.stored += count }

    /// Whether there may be something to do while nobody waits.
    package func isWanted(nowMilliseconds now: Int64) -> Bool {
        self.isPassing || now >= self.nextPassMilliseconds
    }

    /// Removes some.
    package mutating func step(
        olderThanMilliseconds oldest: Int64,
        nowMilliseconds now: Int64,
        in transaction: some HousekeepingTransaction
    ) throws(StorageFailure) {
        let isWanted = self.isWanted(nowMilliseconds: now)
        guard isWanted || self.stored >= Self.storedBetween else { return }
        self.stored = 0
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
        in transaction: some HousekeepingTransaction
    ) throws(StorageFailure) -> Int {
        var removed = 0
        if let database = self.database {
            removed = try transaction.removeOutcomes(
                // The least ID of the oldest millisecond that is still accepted: IDs begin with it.
                below: RequestID(high: UInt64(truncatingIfNeeded: oldest) << 16, low: 0),
                in: database,
                limit: Self.outcomesMax
            )
        }
        guard removed < Self.outcomesMax else { return removed }
        self.database = try transaction.databaseWithOutcomes(after: self.database)
        if self.database == nil { self.isPassing = false }
        return removed
    }
}
