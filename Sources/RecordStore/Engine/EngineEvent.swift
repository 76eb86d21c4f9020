package import RecordModel

/// An event that an engine reports to the operator.
///
/// An engine reports from any thread, also while requests wait, so whoever takes it must be quick.
package enum EngineEvent: Hashable, Sendable {
    /// The storage could not be used; every request of the commit was rejected.
    ///
    /// `code` is the engine's own number of the error, as in the other cases.
    case storageUnavailable(code: Int32)
    /// The storage executes requests again.
    case storageAvailable
    /// The disk had no room for this number of changes; another event reports the disk.
    case changesRefused(Int)
    /// The disk refuses what is to be written, and every change is rejected until it does not.
    case writesFail(code: Int32)
    /// The disk takes writes again.
    case writesWork
    /// Only deletes and administration are executed from now on, in the room of the reserve.
    case diskFull
    /// The reserve is there again, and everything is executed.
    case diskHasRoom
    /// There can be no reserve, so that on a full disk nothing can be written.
    case reserveFailed(path: String, systemError: Int32)
    /// Commits could not be made durable, and nobody knows how much of them is on disk.
    ///
    /// The process has to end, and the next one to begin with what is there. Until then the engine
    /// rejects everything.
    case logLost(systemError: Int32)
    /// One request could not be executed for a reason that is ours; it changed nothing.
    case requestFaulted(code: Int32)
    /// A piece of housekeeping failed; it is tried again.
    case housekeepingFailed(code: Int32)
    /// So many indexes are not complete and are filled in the background; queries that need them are
    /// rejected meanwhile.
    case indexesIncomplete(indexes: Int)
    /// They are complete; so many records were read for it since the start of the process.
    case indexesBuilt(indexes: Int, records: Int)
    /// An index has only those fields of a record that can be read: the record is damaged.
    case recordNotIndexed(DamagedRecord)
}

/// Where a damaged record is, for the operator.
package struct DamagedRecord: Hashable, Sendable {
    package var container: String
    package var scope: DatabaseScope
    package var zone: String
    /// The user record name of the database's owner; empty if it has none.
    package var owner: String
    package var name: String
}
