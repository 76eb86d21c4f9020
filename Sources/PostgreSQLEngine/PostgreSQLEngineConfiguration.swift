package import Admission
import EngineThreads
package import StorageContract

/// How an engine in PostgreSQL runs.
package struct PostgreSQLEngineConfiguration: Sendable {
    /// The part that the caller plays.
    package enum Role: Hashable, Sendable {
        /// A server of the store, beside others. It makes the tables if there are none.
        ///
        /// The name is that of a machine and of a folder which the caller has locked: no two servers that
        /// run have the same.
        case server(node: String)
        /// A command beside a server. With `makesTables` it makes them.
        case command(makesTables: Bool)
    }

    package var target: ConnectionTarget
    package var role: Role
    package var housekeeping: MakeHousekeeper
    /// Each thread that reads has a connection.
    package var queues = QueueSettings()
    /// Whether every commit of a server has to wait for a synchronous standby.
    package var isSynchronous = false
    /// Whether times in rows are those of PostgreSQL's clock, in place of the one that the engine is given.
    package var usesDatabaseClock = false
    /// Is told what an operator should know of servers and standbys; called from any thread.
    package var notice: @Sendable (ClusterNotice) -> Void = { _ in }
    /// Is asked before a server registers; `nil` if it may in any case.
    package var admission: NodeAdmission?
    /// Is asked before each commit; after false nothing is committed any more, as when the server is gone.
    package var mayCommit: @Sendable () -> Bool = { true }
    /// Of a clock that only goes forward.
    package var monotonicNanoseconds: @Sendable () -> Int64 = MonotonicTime.nanoseconds

    package init(
        target: ConnectionTarget,
        role: Role,
        housekeeping: @escaping MakeHousekeeper
    ) {
        self.target = target
        self.role = role
        self.housekeeping = housekeeping
    }
}
