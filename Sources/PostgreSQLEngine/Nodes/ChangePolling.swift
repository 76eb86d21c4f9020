import EngineThreads
import Foundation
import RecordStore
import Synchronization

/// A thread that looks for what other processes have committed in databases that somebody listens in.
///
/// One statement asks for the positions of all of them. Nothing tells this process of commits of others,
/// so the pause between two looks is the delay of their notifications. The thread also finds out whether
/// synchronous replication goes on.
///
/// SAFETY: `isClosed` is read and written only while the condition is locked; `connection` is used on the
/// thread alone.
final class ChangePolling: @unchecked Sendable {
    /// The pause while other servers run, and while none does.
    private static let pauseMilliseconds = 20
    private static let pauseAloneMilliseconds = 200
    /// After a look that took long the pause is so many times longer.
    private static let pauseFactor = 4
    private static let standbyMilliseconds: Int64 = 1_000
    private static let stillMilliseconds: Int64 = 5_000

    private let target: ConnectionTarget
    private let reporting: CommitReporting
    private let clock: @Sendable () -> Int64
    private let witness: ClusterWitness?
    private let hasOthers = Atomic<Bool>(false)
    private let condition = NSCondition()
    private var isClosed = false
    private var connection: PostgreSQLConnection?
    private var standbyLooked = MonotonicTime.nanoseconds()
    private var stillLooked = MonotonicTime.nanoseconds()

    init(
        _ target: ConnectionTarget,
        reporting: CommitReporting,
        witness: ClusterWitness?,
        clock: @escaping @Sendable () -> Int64
    ) {
        self.target = target
        self.reporting = reporting
        self.witness = witness
        self.clock = clock
    }

    /// Notes whether there are other servers.
    func note(hasOthers: Bool) { self.hasOthers.store(hasOthers, ordering: .relaxed) }

    func close() {
        self.condition.withLock {
            self.isClosed = true
            self.condition.signal()
        }
    }

    /// Looks again and again, until it is closed.
    func run() {
        var pause = Self.pauseAloneMilliseconds
        while self.waits(milliseconds: pause) {
            let start = MonotonicTime.nanoseconds()
            self.look()
            let took = Int((MonotonicTime.nanoseconds() - start) / 1_000_000)
            let least =
                self.hasOthers.load(ordering: .relaxed)
                ? Self.pauseMilliseconds : Self.pauseAloneMilliseconds
            pause = max(least, Self.pauseFactor * took)
        }
        self.connection = nil
    }

    private func waits(milliseconds: Int) -> Bool {
        self.condition.withLock {
            let end = Date(timeIntervalSinceNow: Double(milliseconds) / 1_000)
            while !self.isClosed, self.condition.wait(until: end) {}
            return !self.isClosed
        }
    }

    private func look() {
        let followed = self.reporting.followed
        let isStandbyDue = self.witness?.isSynchronous == true && self.isStandbyDue
        let isStillDue = self.hasOthers.load(ordering: .relaxed) && self.isStillDue
        guard !followed.isEmpty || isStandbyDue || isStillDue, let connection = self.connected() else {
            return
        }
        if isStillDue {
            self.stillLooked = MonotonicTime.nanoseconds()
            _ = try? connection.query(Self.endStill)
        }
        if isStandbyDue {
            self.standbyLooked = MonotonicTime.nanoseconds()
            _ = try? self.witness?.lookForStandby(on: connection)
        }
        guard !followed.isEmpty else { return }
        let numbers = SQLValue.integers(followed.map(\.rawValue))
        guard let rows = try? connection.query(CounterSQL.positions, [numbers]) else { return }
        let found = (0..<rows.count).map {
            (database: DatabaseID(rawValue: rows.integer($0, 0)), position: rows.integer($0, 1))
        }
        self.reporting.found(found, nowMilliseconds: self.clock())
    }

    private var isStillDue: Bool {
        MonotonicTime.nanoseconds() - self.stillLooked >= Self.stillMilliseconds * 1_000_000
    }

    /// Ends sessions of servers that stopped in the middle of a flight, and so hold their locks.
    ///
    /// PostgreSQL's own timeouts begin with the end of a flight.
    private static let endStill = SQL(
        """
        SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
        WHERE usename = current_user AND datname = current_database() AND pid <> pg_backend_pid()
            AND state = 'active' AND wait_event = 'ClientRead'
            AND query_start < clock_timestamp() - interval '15 seconds'
        """,
        reach: .store
    )

    private var isStandbyDue: Bool {
        MonotonicTime.nanoseconds() - self.standbyLooked >= Self.standbyMilliseconds * 1_000_000
    }

    /// `nil` while there is no connection; the next look tries again.
    private func connected() -> PostgreSQLConnection? {
        if let connection, !connection.isLost { return connection }
        self.connection = nil
        guard let made = try? PostgreSQLConnection(self.target),
            (try? self.witness?.check(made)) != nil || self.witness == nil
        else { return nil }
        self.connection = made
        return made
    }
}
