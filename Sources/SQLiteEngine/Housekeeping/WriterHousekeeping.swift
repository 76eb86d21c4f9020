import GRDB
import RecordStore

/// The store's housekeeping within transactions of the writer.
///
/// Used on the writer's thread only.
final class WriterHousekeeping {
    private let transaction: WriterTransaction
    private let rows: HousekeepingRows
    private let housekeeping: Housekeeping

    init(
        _ configuration: SQLiteEngineConfiguration,
        transaction: WriterTransaction,
        database: Database
    ) throws(StorageFailure) {
        self.transaction = transaction
        self.rows = try HousekeepingRows(transaction, database: database)
        self.housekeeping = Housekeeping(configuration.housekeeping)
    }

    /// How many milliseconds to wait with a step if nobody asks for anything meanwhile, or with what
    /// makes room.
    ///
    /// - Returns: `nil` if nothing is to be done, as far as is known.
    func milliseconds(untilStepFrom now: Int64, onFullDisk isFull: Bool) -> Int64? {
        self.housekeeping.milliseconds(untilStepFrom: now, onFullDisk: isFull, knowing: self.rows)
    }

    /// Whether there is something to do when nobody has asked for anything for a second.
    func isWantedAfterWaiting(nowMilliseconds now: Int64) throws(StorageFailure) -> Bool {
        try self.transaction.othersHaveWritten() || self.housekeeping.isDue(nowMilliseconds: now)
    }

    /// Does a piece of everything within the transaction that is open.
    func step(isAlone: Bool, onFullDisk isFull: Bool) throws(StorageFailure) {
        try self.housekeeping.step(isAlone: isAlone, onFullDisk: isFull, in: self.rows)
    }

    /// Hands out the events for the operator, after a commit.
    func takeEvents() -> [EngineEvent] { self.housekeeping.takeEvents() }
}
