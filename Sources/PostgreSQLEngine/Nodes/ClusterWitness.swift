import EngineThreads
import Foundation

/// A server's memory of the cluster that the store is in: each new connection is compared with it before
/// it is used.
///
/// A connection to another server process begins with a write. After a crash the process shows commits
/// that no standby had confirmed, until it is asked to confirm one: the write. So nothing that a client
/// reads can be lost by the next failover.
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
    ///   - isSynchronous: Whether every commit has to wait for a standby.
    ///   - notice: Is called from any thread.
    init(isSynchronous: Bool, notice: @escaping @Sendable (ClusterNotice) -> Void) {
        self.isSynchronous = isSynchronous
        self.notice = notice
    }

    // MARK: Standbys

    /// Whether commits are refused, as nothing confirms them.
    var refusesCommits: Bool {
        self.condition.withLock { self.isSynchronous && self.standby != .confirming }
    }

    /// Finds out whether a standby confirms commits.
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

    /// Notes a commit that clients hear of.
    func acknowledged(_ commit: AcknowledgedCommit) {
        self.condition.withLock { self.acknowledged = commit }
    }

    /// Compares the cluster of a connection with what is known, and begins a new epoch if its history may
    /// have gone back.
    func check(_ connection: PostgreSQLConnection) throws(PostgreSQLError) {
        // Known before the facts are asked for: another connection may find later ones, and be done first.
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
            // Another connection may have led elsewhere meanwhile.
            if self.known == known { self.known = facts }
        }
    }

    /// Judges the history, and makes the write that waits for a standby.
    ///
    /// With the store locked it begins a new epoch if need be; without it writes nothing then.
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
        // Positions of another epoch are none that were acknowledged.
        if history != .whole { self.condition.withLock { self.acknowledged = nil } }
        return history
    }

    private static func has(
        _ commit: AcknowledgedCommit?,
        _ connection: PostgreSQLConnection
    ) throws(PostgreSQLError) -> Bool {
        guard let commit else { return true }
        let rows = try connection.query(AcknowledgedCommit.position, [.integer(commit.database)])
        // A database that was deleted is none that went back.
        return rows.isEmpty || rows.integer(0, 0) >= commit.position
    }
}

/// Whether a standby confirms commits, as far as the user may know.
package enum StandbyState: Hashable, Sendable {
    case confirming
    /// `synchronous_standby_names` is empty, or `synchronous_commit` waits for no standby.
    case notConfigured
    /// None is connected that is named.
    case disconnected

    /// The standbys are hidden from users without `pg_monitor`, who count as seeing one.
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

/// Events of the cluster for an operator.
package enum ClusterNotice: Hashable, Sendable {
    /// Another server process answers than before.
    case otherProcess
    /// Every database has begun a new epoch: clients fetch everything anew.
    case newEpoch(String)
    case standby(StandbyState)
    /// The row of this server was gone, and it has another one.
    case registeredAgain
    /// This server keeps house from now on.
    case keepsHouse
    /// Another version has brought the tables to its format: this one writes nothing any more.
    case otherFormat(Int)
    /// PostgreSQL executes nothing, as a server finds out that nobody asks for anything.
    case answersNothing(code: Int32)
    /// These are off, so a crash of PostgreSQL's machine loses commits or damages the database.
    case unsafeSettings([String])

    static func newEpoch(_ reason: ClusterHistory.Reason) -> ClusterNotice { .newEpoch(reason.rawValue) }
}
