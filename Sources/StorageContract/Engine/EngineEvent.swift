package import RecordModel

/// An event that an engine reports to the operator.
///
/// An engine reports from any thread, also while requests wait, so the receiver must be quick.
package enum EngineEvent: Hashable, Sendable {
    /// The storage could not be used; every request of the commit was rejected.
    ///
    /// `code` is the engine's own number of the error, as in the other cases.
    case storageUnavailable(code: Int32)
    /// The storage executes requests again.
    case storageAvailable
    /// The disk had no room for this number of changes; another event reports the disk.
    case changesRefused(Int)
    /// The disk rejects writes, and every change is rejected until a write succeeds.
    case writesFail(code: Int32)
    /// Writes to the disk succeed again.
    case writesWork
    /// Only deletes and administration are executed from now on, in the room of the reserve.
    case diskFull
    /// The reserve exists again, and everything is executed.
    case diskHasRoom
    /// The reserve cannot be made, so on a full disk no change can be written.
    case reserveFailed(path: String, systemError: Int32)
    /// Commits could not be made durable, and it is unknown how much of them is on disk.
    ///
    /// The process has to end, and the next one has to begin with the rows on disk. Until then the
    /// engine rejects everything.
    case logLost(systemError: Int32)
    /// One request failed because of a fault of the server; it changed nothing.
    case requestFaulted(code: Int32)
    /// A step of housekeeping failed; it is tried again.
    case housekeepingFailed(code: Int32)
    /// The number of indexes that are incomplete and filled in the background; queries that need
    /// them are rejected meanwhile.
    case indexesIncomplete(indexes: Int)
    /// The indexes are complete; `records` is the number of records read for it since the start of
    /// the process.
    case indexesBuilt(indexes: Int, records: Int)
    /// A page of a file is not the one that was written: what needed it failed, and changed nothing.
    case pageDamaged(path: String, page: UInt32)
    /// The log has commits behind its end: they were not synced when the machine lost power, or the
    /// note of what was synced is older.
    case logTorn
    /// An index has only the readable fields of a record: the record is damaged.
    case recordNotIndexed(DamagedRecord)
}

/// The location of a damaged record, for the operator.
package struct DamagedRecord: Hashable, Sendable {
    package var container: String
    package var scope: DatabaseScope
    package var zone: String
    /// The user record name of the database's owner; empty if it has none.
    package var owner: String
    package var name: String

    package init(container: String, scope: DatabaseScope, zone: String, owner: String, name: String) {
        self.container = container
        self.scope = scope
        self.zone = zone
        self.owner = owner
        self.name = name
    }
}
