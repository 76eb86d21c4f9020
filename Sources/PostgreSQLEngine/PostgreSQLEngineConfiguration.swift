import EngineThreads
package import RecordStore

/// How an engine in PostgreSQL runs.
package struct PostgreSQLEngineConfiguration: Sendable {
    /// The part that the caller plays.
    package enum Role: Hashable, Sendable {
        /// The only server of the store. It makes the tables if there are none.
        ///
        /// The name is that of a machine and of a folder which the caller has locked.
        case server(node: String)
        /// A command beside a server. With `makesTables` it makes them.
        case command(makesTables: Bool)
    }

    package var target: ConnectionTarget
    package var role: Role
    package var housekeeping = HousekeepingRules()
    package var waitingRequestsMax = 4_096
    package var waitingBytesMax = 64 * 1024 * 1024
    package var writerWaitNanoseconds: Int64 = 10_000_000
    package var readerWaitNanoseconds: Int64 = 25_000_000
    package var commitRecordsMax = 4_000
    package var commitBytesMax = 8 * 1024 * 1024
    /// Threads for searches, and as many for all other reads, each with a connection.
    package var readThreads = 2
    /// Is asked before each commit; after false nothing is committed any more, as when the server is gone.
    package var mayCommit: @Sendable () -> Bool = { true }
    /// Of a clock that only goes forward.
    package var monotonicNanoseconds: @Sendable () -> Int64 = MonotonicTime.nanoseconds

    package init(target: ConnectionTarget, role: Role) {
        self.target = target
        self.role = role
    }
}
