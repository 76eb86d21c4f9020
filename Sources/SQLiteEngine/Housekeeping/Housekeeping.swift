import GRDB
import RecordStore

/// Work that may be done at any time and is done in pieces, within transactions of the writer.
final class Housekeeping {
    private let transaction: WriterTransaction
    private let rows: HousekeepingRows
    private let indexBuilder: IndexBuilder
    let staleChanges: StaleChanges
    private var tombstones: TombstoneExpiry
    private var outcomes = OutcomeExpiry()
    private var viewPace = ViewPace()

    /// Records that are indexed while requests wait, and while nobody does.
    private static let indexedRecordsMax = 100
    private static let indexedRecordsAloneMax = 1_000

    init(
        transaction: WriterTransaction,
        database: Database,
        tombstoneRetentionSeconds: Int
    ) throws(StorageFailure) {
        self.transaction = transaction
        self.rows = HousekeepingRows(transaction: transaction, database: database)
        self.indexBuilder = try IndexBuilder(transaction: transaction, database: database)
        self.staleChanges = StaleChanges(transaction.order)
        self.tombstones = TombstoneExpiry(retentionSeconds: tombstoneRetentionSeconds)
    }

    /// Whether there may be something to do while nobody waits, or of that what makes room.
    func isWanted(nowMilliseconds now: Int64, onFullDisk: Bool) -> Bool {
        let mayTakeRoom = self.transaction.work.mayBeIndexes || self.transaction.work.mayBeViews
        return self.transaction.work.mayBeSweeps || (mayTakeRoom && !onFullDisk)
            || self.staleChanges.isWorthwhile
            || self.tombstones.isWanted(nowMilliseconds: now)
            || self.outcomes.isWanted(nowMilliseconds: now)
    }

    /// Whether there is something to do when nobody has asked for anything for a second.
    func isWantedAfterWaiting(nowMilliseconds now: Int64) throws(StorageFailure) -> Bool {
        try self.transaction.othersHaveWritten()
            || self.tombstones.isWanted(nowMilliseconds: now)
            || self.outcomes.isWanted(nowMilliseconds: now)
    }

    /// Brings shared databases up to date.
    func updateViews(isAlone: Bool) throws(StorageFailure) {
        guard self.transaction.work.mayBeViews else { return }
        let mayBeMore = try self.viewPace.step(isAlone: isAlone, in: self.transaction)
        if !mayBeMore { self.transaction.work.viewsWereTold() }
    }

    /// What to tell an operator, after a commit.
    func takeEvents() -> [EngineEvent] { self.indexBuilder.takeEvents() }

    /// Fills new indexes and empties dropped ones, a piece of each.
    func workOnIndexes(isAlone: Bool) throws(StorageFailure) {
        try self.indexBuilder.work(
            recordsMax: isAlone ? Self.indexedRecordsAloneMax : Self.indexedRecordsMax
        )
    }

    /// Removes some of what deleted zones left.
    func sweep() throws(StorageFailure) {
        guard self.transaction.work.mayBeSweeps else { return }
        self.transaction.work.mayBeSweeps = try ZoneSweep.step(in: self.rows)
    }

    /// Removes some outcomes of old requests.
    func removeOldOutcomes(olderThanMilliseconds oldest: Int64) throws(StorageFailure) {
        self.outcomes.outcomesStored(self.transaction.work.takeOutcomesStored())
        try self.outcomes.step(
            olderThanMilliseconds: oldest,
            nowMilliseconds: self.transaction.nowMilliseconds,
            in: self.rows
        )
    }

    /// Removes some old tombstones.
    func removeOldTombstones() throws(StorageFailure) {
        try self.tombstones.step(nowMilliseconds: self.transaction.nowMilliseconds, in: self.rows)
    }
}
