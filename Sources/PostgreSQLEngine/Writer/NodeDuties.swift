import EngineThreads
import StorageContract
import Synchronization

/// The duties of a server besides its writes: heartbeats, measurements of the store, and the check
/// of a full disk.
///
/// Used on the writer's thread alone.
final class NodeDuties {
    private let runner: TransactionRunner
    private let room: RoomProbe
    private let now: () -> Int64
    /// When the last heartbeat was sent.
    private var heartbeat: Int64
    /// When the database's size was last measured.
    private var measured: Int64

    private static let measuredNanoseconds: Int64 = 60_000_000_000
    private static let size = SQL("SELECT pg_database_size(current_database())", reach: .store)

    /// `now` gives nanoseconds of a monotonic clock.
    init(_ runner: TransactionRunner, room: RoomProbe, now: @escaping () -> Int64) {
        self.runner = runner
        self.room = room
        self.now = now
        self.heartbeat = now()
        self.measured = now() - Self.measuredNanoseconds
    }

    /// Performs the duties that are due.
    func doWhatIsDue() {
        self.measureIfDue()
        let now = self.now()
        if self.room.isDue(now: now), let connection = try? self.runner.connected().connection {
            self.room.look(on: connection, now: now)
        }
        self.sendHeartbeatIfDue()
    }

    /// Reads the figures for metrics: the size of the database, and the durability settings that an
    /// operator has turned off.
    private func measureIfDue() {
        let now = self.now()
        guard self.runner.session.node != nil, now >= self.measured + Self.measuredNanoseconds else { return }
        self.measured = now
        guard let connection = try? self.runner.connected().connection,
            let size = try? connection.query(Self.size),
            let off = try? connection.query(DurabilitySettings.sql)
        else { return }
        let (bytes, unsafeSettings) = (size.integer(0, 0), off.count)
        self.runner.counted.withLock {
            $0.databaseBytes = bytes
            $0.unsafeSettings = unsafeSettings
        }
    }

    private func sendHeartbeatIfDue() {
        let now = self.now()
        guard now >= self.heartbeat + NodeRegistration.heartbeatMilliseconds * 1_000_000 else { return }
        self.heartbeat = now
        do throws(StorageFailure) {
            try self.runner.session.sendHeartbeat()
            if self.runner.session.node != nil { self.runner.reachability.worked(.writes) }
        } catch {
            self.runner.reachability.failed(.writes)
        }
    }
}
