import GRDB
import StorageContract

/// The store's housekeeping within transactions of the writer.
///
/// Used on the writer's thread only.
final class WriterHousekeeping {
    private let transaction: WriterTransaction
    private let rows: HousekeepingRows
    private let housekeeping: any Housekeeper

    init(
        _ configuration: SQLiteEngineConfiguration,
        transaction: WriterTransaction,
        database: Database
    ) throws(StorageFailure) {
        guard let makeHousekeeper = configuration.housekeeping else {
            preconditionFailure("an engine that writes has housekeeping")
        }
        self.transaction = transaction
        self.rows = try HousekeepingRows(transaction, database: database)
        self.housekeeping = makeHousekeeper()
    }

    /// How many milliseconds to wait before a step if no request arrives meanwhile, or before
    /// freeing space.
    ///
    /// - Returns: `nil` if no work is known of.
    func milliseconds(untilStepFrom now: Int64, onFullDisk isFull: Bool) -> Int64? {
        self.housekeeping.milliseconds(untilStepFrom: now, onFullDisk: isFull, knowing: self.rows)
    }

    /// Whether work is due after a second without requests.
    func isWantedAfterWaiting(nowMilliseconds now: Int64) throws(StorageFailure) -> Bool {
        try self.transaction.othersHaveWritten() || self.housekeeping.isDue(nowMilliseconds: now)
    }

    /// Does some of each kind of work within the open transaction.
    func step(isAlone: Bool, onFullDisk isFull: Bool) throws(StorageFailure) {
        try self.housekeeping.step(isAlone: isAlone, onFullDisk: isFull, in: self.rows)
    }

    /// Returns the events for the operator, after a commit.
    func takeEvents() -> [EngineEvent] { self.housekeeping.takeEvents() }
}
