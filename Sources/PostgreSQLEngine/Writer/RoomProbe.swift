import StorageContract
import Synchronization

/// Whether PostgreSQL's disk is full, from a refused change until a probe of one mebibyte succeeds.
///
/// Small changes may fit into existing pages, so their success proves nothing. The probe creates a
/// table and rolls back: its file goes with the transaction.
///
/// SAFETY: `lastNanoseconds` is used on the writer's thread only.
final class RoomProbe: @unchecked Sendable {
    private static let periodNanoseconds: Int64 = 5_000_000_000
    /// 550 rows of 1,920 bytes, which PostgreSQL neither compresses nor stores out of line.
    private static let fill = SQL(
        """
        CREATE TABLE tidemark.room AS
            SELECT repeat(md5(number::text), 60) AS filler FROM generate_series(1, 550) AS number
        """,
        reach: .store
    )

    private let report: @Sendable (EngineEvent) -> Void
    private let full = Atomic<Bool>(false)
    private var lastNanoseconds = Int64.min

    init(report: @escaping @Sendable (EngineEvent) -> Void) { self.report = report }

    var isFull: Bool { self.full.load(ordering: .relaxed) }

    /// Notes a failed change; returns whether the disk was full.
    func notes(_ error: any Error, now: Int64) -> Bool {
        guard (error as? StorageFailure)?.isForWantOfRoom == true else { return false }
        self.lastNanoseconds = now
        if !self.full.exchange(true, ordering: .relaxed) { self.report(.diskFull) }
        return true
    }

    func isDue(now: Int64) -> Bool { self.isFull && now >= self.lastNanoseconds + Self.periodNanoseconds }

    /// Probes the disk, and reports when it has room again.
    func look(on connection: PostgreSQLConnection, now: Int64) {
        self.lastNanoseconds = now
        guard self.findsRoom(on: connection) else { return }
        // Logged before the state changes, so that the event precedes its effects.
        self.report(.diskHasRoom)
        self.full.store(false, ordering: .relaxed)
    }

    private func findsRoom(on connection: PostgreSQLConnection) -> Bool {
        defer { _ = try? connection.query(TransactionSQL.rollback) }
        do throws(PostgreSQLError) {
            try connection.send(TransactionSQL.begin)
            _ = try connection.query(Self.fill)
        } catch {
            // A user who may not create a table cannot probe, and counts as having room. Without a
            // connection the disk stays full.
            guard case .refused(let state) = error.kind, state != .diskFull else { return false }
        }
        return true
    }
}
