import EngineThreads
import StorageContract
import Synchronization

/// A thread that polls for commits of other processes in databases that have listeners.
///
/// One statement reads the positions of all of them. Where one has advanced, two more round trips
/// read the changes (`ChangesOfOthers`). Other processes send no notification, so the polling
/// interval is the delay of their changes. The thread also checks whether synchronous replication
/// works.
///
/// SAFETY: `isClosed` is read and written only while the condition is locked; the variables below
/// it are used on the thread alone.
final class ChangePolling: @unchecked Sendable {
    /// The polling interval while other servers change watched databases, while others run, and
    /// while none does.
    private static let livelyMilliseconds: Int64 = 10
    private static let besideMilliseconds: Int64 = 20
    private static let aloneMilliseconds: Int64 = 200
    /// How long polling stays fast after a change.
    private static let livelinessMilliseconds: Int64 = 1_000
    /// The pause is at least this multiple of PostgreSQL's response time.
    private static let pauseFactor: Int64 = 2
    /// Maximum number of databases for which changes are read in one snapshot.
    private static let stretchesMax = 32
    private static let standbyMilliseconds: Int64 = 1_000
    private static let stillMilliseconds: Int64 = 5_000

    private let target: ConnectionTarget
    private let reporting: CommitReporting
    private let clock: @Sendable () -> Int64
    private let witness: ClusterWitness?
    private let hasOthers = Atomic<Bool>(false)
    private let condition = ThreadCondition()
    private var isClosed = false
    private var session: PostgreSQLSnapshot?
    /// When a change of another server was last found; `nil` if there was none.
    private var changeFound: Int64?
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

    /// Polls until it is closed.
    func run() {
        var pause = Self.aloneMilliseconds
        while self.waits(milliseconds: pause) {
            let took = self.look() / 1_000_000
            pause = max(self.period - took, Self.pauseFactor * took, 1)
        }
        self.session = nil
    }

    private var period: Int64 {
        guard self.hasOthers.load(ordering: .relaxed) else { return Self.aloneMilliseconds }
        let end = self.changeFound.map { $0 + Self.livelinessMilliseconds * 1_000_000 } ?? .min
        return MonotonicTime.nanoseconds() < end ? Self.livelyMilliseconds : Self.besideMilliseconds
    }

    private func waits(milliseconds: Int64) -> Bool {
        self.condition.withLock {
            let end = MonotonicTime.nanoseconds() + MonotonicTime.nanoseconds(ofMilliseconds: milliseconds)
            while !self.isClosed, self.condition.wait(until: end) {}
            return !self.isClosed
        }
    }

    /// Polls once; returns PostgreSQL's response time in nanoseconds.
    private func look() -> Int64 {
        let followed = self.reporting.followed
        let isStandbyDue = self.witness?.isSynchronous == true && self.isStandbyDue
        let isStillDue = self.hasOthers.load(ordering: .relaxed) && self.isStillDue
        guard !followed.isEmpty || isStandbyDue || isStillDue, let session = self.connected() else {
            return 0
        }
        let start = MonotonicTime.nanoseconds()
        if isStillDue {
            self.stillLooked = start
            _ = try? session.connection.query(Self.endStill)
        }
        if isStandbyDue {
            self.standbyLooked = start
            _ = try? self.witness?.lookForStandby(on: session.connection)
        }
        let found = followed.isEmpty ? [] : Self.positions(of: followed, session.connection)
        let took = MonotonicTime.nanoseconds() - start
        return found.isEmpty ? took : took + self.report(found, session)
    }

    private static func positions(
        of databases: [DatabaseID],
        _ connection: PostgreSQLConnection
    ) -> [(database: DatabaseID, position: Int64)] {
        let numbers = SQLValue.integers(databases.map(\.rawValue))
        guard let rows = try? connection.query(CounterSQL.positions, [numbers]) else { return [] }
        return (0..<rows.count).map {
            (database: DatabaseID(rawValue: rows.integer($0, 0)), position: rows.integer($0, 1))
        }
    }

    /// Reports other servers' changes where a position has advanced; returns PostgreSQL's response
    /// time.
    private func report(
        _ found: [(database: DatabaseID, position: Int64)],
        _ session: PostgreSQLSnapshot
    ) -> Int64 {
        var rest = self.reporting.unreported(found)[...]
        var took: Int64 = 0
        while !rest.isEmpty {
            let piece = Array(rest.prefix(Self.stretchesMax))
            rest = rest.dropFirst(piece.count)
            let start = MonotonicTime.nanoseconds()
            let changes = self.read(piece, found, session)
            took += MonotonicTime.nanoseconds() - start
            // Without a connection, the next poll finds the same changes.
            guard !changes.isEmpty else { break }
            self.changeFound = start
            self.reporting.found(changes, nowMilliseconds: self.clock())
        }
        return took
    }

    /// Reads the changes; those that cannot be read are reported by position.
    private func read(
        _ stretches: [ChangesOfOthers.Stretch],
        _ found: [(database: DatabaseID, position: Int64)],
        _ session: PostgreSQLSnapshot
    ) -> [ChangesOfOthers] {
        defer { session.rest() }
        do throws(StorageFailure) {
            return try session.read(
                { (snapshot) throws(StorageFailure) in
                    try ChangesOfOthers.read(stretches, on: snapshot.connection) {
                        (type, environment) throws(StorageFailure) in
                        try snapshot.fields(ofType: type, in: environment)
                    }
                },
                failure: { $0 }
            )
        } catch {
            guard !session.connection.isLost else { return [] }
            let positions = Dictionary(found) { $1 }
            return stretches.compactMap { stretch in
                positions[stretch.database].map { ChangesOfOthers(stretch, position: $0) }
            }
        }
    }

    private var isStillDue: Bool {
        MonotonicTime.nanoseconds() - self.stillLooked >= Self.stillMilliseconds * 1_000_000
    }

    /// Terminates sessions of servers that stopped during a round trip, and so hold their locks.
    ///
    /// PostgreSQL's own timeouts begin at the end of a round trip.
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

    /// `nil` while there is no connection; the next poll tries again.
    private func connected() -> PostgreSQLSnapshot? {
        if let session, !session.connection.isLost { return session }
        self.session = nil
        guard let made = try? PostgreSQLConnection(self.target),
            (try? self.witness?.check(made)) != nil || self.witness == nil
        else { return nil }
        self.session = PostgreSQLSnapshot(made)
        return self.session
    }
}
