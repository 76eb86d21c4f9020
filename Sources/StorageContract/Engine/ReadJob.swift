/// A read of one snapshot: the engine finds a thread and a connection for it.
///
/// The engine calls back exactly once: what `body` returned, or `fail`. It calls that when everything
/// that the snapshot may have shown of `database` is durable.
package struct ReadJob: Sendable {
    /// The expected cost of a read, as far as the store knows.
    package enum Effort: Hashable, Sendable {
        /// A few rows: on the caller's thread, if the engine has a connection free.
        case short
        /// On a thread for reads.
        case long
        /// A search, which takes what it takes: on a thread for searches, so that other reads do not
        /// wait for it. With `isAttempted` it is tried first: on the caller's thread, or in a snapshot
        /// with others.
        case search(isAttempted: Bool)
    }

    /// The requester of the job: engines serve users in turns, and fail jobs that wait beyond their
    /// deadline.
    package var requester: Requester
    package var effort: Effort
    /// The database with the commits that the result may show; `nil` for those of several.
    package var database: DatabaseID?
    /// Takes the records that are read, and is emptied before a read begins anew; `nil` if the
    /// reply has everything.
    package var sink: (any RecordSink)?
    /// For engines that prefetch; `nil` if nothing is known.
    package var prefetch: Prefetch?
    /// Reads, and returns the reply for the engine to call.
    ///
    /// Gets true for an attempt, and may return `nil` then: the read takes too long for the caller's
    /// thread, or for those that share its snapshot, and the engine runs it again elsewhere. An engine may
    /// also begin a read anew that failed, once it has emptied `sink`.
    package let body: @Sendable (any Snapshot, _ isAttempt: Bool) throws(StorageFailure) -> Reply?
    package let fail: @Sendable (JobFailure) -> Void

    package typealias Reply = @Sendable () -> Void

    package init(
        requester: Requester,
        effort: Effort,
        body: @escaping @Sendable (any Snapshot, _ isAttempt: Bool) throws(StorageFailure) -> Reply?,
        fail: @escaping @Sendable (JobFailure) -> Void
    ) {
        self.requester = requester
        self.effort = effort
        self.database = requester.databaseShown
        self.body = body
        self.fail = fail
    }

    /// Whether it may be read in one snapshot with others: a few rows that are known by name, or a search
    /// that is tried first.
    package var sharesSnapshot: Bool {
        switch self.effort {
        case .short: self.prefetch != nil
        case .long: false
        case .search(let isAttempted): isAttempted
        }
    }
}
