/// A database that knows transactions, below the rules.
///
/// Replies come on a thread of the engine, or on the caller's before the call returns. Replies to
/// different calls may come in any order. Every reply comes exactly once.
package protocol StorageEngine: Sendable {
    /// Whether each question to the storage is a round trip: the engine prefetches the rows that jobs
    /// name, and reads searches that wait in one snapshot.
    var prefetches: Bool { get }

    /// Executes a job in a transaction, together with others, and calls back when that is durable.
    ///
    /// - Order: changes of one database take ascending positions in the order of the transactions that
    ///   commit them.
    /// - Durability: `reply` is called after the commit is on disk.
    func write(_ job: WriteJob)

    /// Executes a read in one snapshot, which has every write that was acknowledged before the call.
    ///
    /// - Durability: The job's reply comes when everything that the snapshot may have shown is on disk.
    func read(_ job: ReadJob)

    /// Reads declared tables, all in one snapshot, and returns the result of the function.
    ///
    /// Blocks the caller, and may make it wait for other calls of this function. A commit of any process
    /// that was acknowledged before the call is seen.
    ///
    /// - Throws: A `StorageFailure`, or the error of the function.
    func readTables<Value>(_ read: (any IndexReader) throws -> Value) throws -> Value

    /// Does rare work in a transaction of its own, and returns the result of the function once the
    /// transaction is durable.
    ///
    /// Blocks the caller. The function may be called more than once, each time in a transaction
    /// without the writes of the earlier ones.
    ///
    /// - Throws: A `StorageFailure`, or the error of the function: then nothing was written.
    func administer<Value: Sendable>(
        _ work: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) throws -> Value

    /// Sets the observer of commits from now on; to be called once.
    func report(to observer: any CommitObserver)

    /// Whether changes are written at this moment, as far as the engine has tried.
    var condition: StorageCondition { get }

    /// Figures for metrics and for `tidemark-load`.
    var statistics: EngineStatistics { get }

    /// Lets the writer finish admitted jobs, refuses the rest with `shuttingDown`, closes the
    /// files.
    func shutdown() async
}

extension StorageEngine {
    package var prefetches: Bool { false }
}

/// Whether a store can write changes.
package enum StorageCondition: Hashable, Sendable {
    case works
    /// There is no room: the engine executes only requests that free space.
    case full
    /// The last change was refused for another reason, with the engine's own number of it.
    case fails(code: Int32)
}

/// Counters since the start of the engine.
package struct EngineStatistics: Hashable, Sendable {
    package var commits: UInt64 = 0
    package var requestsCommitted: UInt64 = 0
    package var recordsWritten: UInt64 = 0
    package var requestsReplayed: UInt64 = 0
    package var requestsRefused: UInt64 = 0
    /// The durations of making commits durable.
    package var logSyncs = DurationCounts()
    /// Sizes of files now.
    package var databaseBytes: Int64 = 0
    package var databaseLogBytes: Int64 = 0
    /// The bytes that are missing in the reserve for a full disk.
    package var reserveMissingBytes: Int64 = 0
    /// Reads of pages that were not the ones that had been written.
    package var damagedReads: UInt64 = 0
    /// Settings of a database that are off, and without which committed changes are lost or damaged.
    package var unsafeSettings = 0

    package init() {}
}
