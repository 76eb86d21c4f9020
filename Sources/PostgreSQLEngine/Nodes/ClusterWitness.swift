import EngineThreads
import Foundation

/// A server's memory of the store's cluster: each new connection is compared with it before use.
///
/// A connection to another server process begins with a write. After a crash, the process shows
/// commits that no standby had confirmed, until it must confirm a write. So the next failover loses
/// nothing that a client has read.
///
/// SAFETY: the variables are read and written only while the condition is locked.
final class ClusterWitness: @unchecked Sendable {
    let isSynchronous: Bool
    private let notice: @Sendable (ClusterNotice) -> Void
    private let condition = ThreadCondition()
    private var known: ClusterFacts?
    private var acknowledged: AcknowledgedCommit?
    private var standby = StandbyState.confirming

    /// - Parameters:
    ///   - isSynchronous: Whether every commit must wait for a standby.
    ///   - notice: Called from any thread.
    init(isSynchronous: Bool, notice: @escaping @Sendable (ClusterNotice) -> Void) {
        self.isSynchronous = isSynchronous
        self.notice = notice
    }

    // MARK: Standbys

    /// Whether commits are refused, as no standby confirms them.
    var refusesCommits: Bool {
        self.condition.withLock { self.isSynchronous && self.standby != .confirming }
    }

    /// Checks whether a standby confirms commits.
    @discardableResult
    func lookForStandby(on connection: PostgreSQLConnection) throws(PostgreSQLError) -> StandbyState {
        guard self.isSynchronous else { return .confirming }
        let found = StandbyState(try connection.query(StandbyState.sql))
        let before = self.condition.withLock {
            defer { self.standby = found }
            return self.standby
        }
        if before != found { self.notice(.standby(found)) }
        return found
    }

    // MARK: Histories

    /// Notes a commit that is acknowledged to clients.
    func acknowledged(_ commit: AcknowledgedCommit) {
        self.condition.withLock { self.acknowledged = commit }
    }

    /// Compares the cluster of a connection with the known facts, and begins a new epoch if its
    /// history may have gone back.
    func check(_ connection: PostgreSQLConnection) throws(PostgreSQLError) {
        // Copied before the query: another connection may find later facts and finish first.
        let known = self.condition.withLock { self.known }
        let facts = ClusterFacts(try connection.query(ClusterFacts.sql))
        if let known, known.postmaster == facts.postmaster, known.system == facts.system,
            known.tables == facts.tables
        {
            return
        }
        if known != nil { self.notice(.otherProcess) }
        try self.lookForStandby(on: connection)
        if case .mayHaveGoneBack = try self.compare(facts, known, locksStore: false, on: connection) {
            try self.compare(facts, known, locksStore: true, on: connection)
        }
        self.condition.withLock {
            // Another connection may have led to another process meanwhile.
            if self.known == known { self.known = facts }
        }
    }

    /// Judges the history, and makes the write that waits for a standby.
    ///
    /// With the store locked it begins a new epoch if needed; without the lock it then writes
    /// nothing.
    @discardableResult
    private func compare(
        _ facts: ClusterFacts,
        _ known: ClusterFacts?,
        locksStore: Bool,
        on connection: PostgreSQLConnection
    ) throws(PostgreSQLError) -> ClusterHistory {
        try connection.send(TransactionSQL.begin)
        var store: StoreRow?
        if locksStore {
            store = StoreRow(try connection.query(StoreRow.lock))
            _ = try connection.query(NodeRegistration.lockAll)
        }
        let row = ClusterRow(try connection.query(ClusterRow.lock))
        let acknowledged = self.condition.withLock { self.acknowledged }
        let history = ClusterHistory(
            facts,
            row: row,
            known: known,
            hasAcknowledged: try Self.has(acknowledged, connection),
            isSynchronous: self.isSynchronous
        )
        if case .mayHaveGoneBack(let reason) = history {
            guard let store else {
                _ = try connection.query(TransactionSQL.rollback)
                return history
            }
            try NewEpoch.write(store, on: connection)
            self.notice(.newEpoch(reason))
        }
        try connection.send(
            ClusterRow.write,
            [.integer(facts.system), .integer(facts.timeline), .integer(facts.tables)]
        )
        try connection.send(TransactionSQL.commit)
        try connection.receive()
        // Positions of another epoch were never acknowledged.
        if history != .whole { self.condition.withLock { self.acknowledged = nil } }
        return history
    }

    private static func has(
        _ commit: AcknowledgedCommit?,
        _ connection: PostgreSQLConnection
    ) throws(PostgreSQLError) -> Bool {
        guard let commit else { return true }
        let rows = try connection.query(AcknowledgedCommit.position, [.integer(commit.database)])
        // A deleted database has not gone back.
        return rows.isEmpty || rows.integer(0, 0) >= commit.position
    }
}

/// Whether a standby confirms commits, as far as the user may see.
package enum StandbyState: Hashable, Sendable {
    case confirming
    /// `synchronous_standby_names` is empty, or `synchronous_commit` waits for no standby.
    case notConfigured
    /// None of the named standbys is connected.
    case disconnected

    /// Standbys are hidden from users without `pg_monitor`, for whom one is assumed.
    static let sql = SQL(
        """
        SELECT current_setting('synchronous_standby_names') <> ''
            AND current_setting('synchronous_commit') IN ('on', 'remote_apply', 'remote_write'),
            NOT pg_has_role(current_user, 'pg_read_all_stats', 'USAGE') OR EXISTS (
                SELECT 1 FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum'))
        """,
        reach: .store
    )

    init(_ rows: ResultRows) {
        if rows.integer(0, 0) == 0 {
            self = .notConfigured
        } else {
            self = rows.integer(0, 1) == 0 ? .disconnected : .confirming
        }
    }
}

/// Events of the cluster for the operator.
package enum ClusterNotice: Hashable, Sendable {
    /// Another server process answers than before.
    case otherProcess
    /// Every database has begun a new epoch: clients fetch everything again.
    case newEpoch(String)
    case standby(StandbyState)
    /// The row of this server was missing, and it registered again.
    case registeredAgain
    /// This server does the housekeeping from now on.
    case keepsHouse
    /// Another version has migrated the tables: this server no longer writes.
    case otherFormat(Int)
    /// PostgreSQL executes nothing, as the server finds out while idle.
    case answersNothing(code: Int32)
    /// These are off: see `DurabilitySettings`.
    case unsafeSettings([String])

    static func newEpoch(_ reason: ClusterHistory.Reason) -> ClusterNotice { .newEpoch(reason.rawValue) }
}
