import RecordServer
import Synchronization

/// Whether the server is alive, and whether it takes requests.
final class ServerHealth: Sendable {
    private static let loopTimeout = Duration.seconds(2)

    private struct Opened {
        let server: RecordServer
        let reserveMissingBytes: @Sendable () -> Int64
    }

    /// `nil` until the store is open.
    private let opened = Mutex<Opened?>(nil)

    /// The server whose health this is, once there is one.
    var server: RecordServer? { self.opened.withLock { $0?.server } }

    /// Takes the server of a store that was opened.
    ///
    /// `reserveMissingBytes` is the room that the disk lacks for the engine's reserve.
    func opened(_ server: RecordServer, reserveMissingBytes: @escaping @Sendable () -> Int64) {
        self.opened.withLock { $0 = Opened(server: server, reserveMissingBytes: reserveMissingBytes) }
    }

    /// Why the process should be started again; empty if it is alive.
    func hangs() async -> [String] {
        guard let server = self.server else { return [] }
        let answers = await server.loopsAnswer(within: Self.loopTimeout)
        return answers ? [] : ["hanging: an event loop did not answer within 2 seconds"]
    }

    /// Why clients should not be sent here now; empty if they should.
    func unreadiness() async -> [String] {
        guard let opened = self.opened.withLock({ $0 }) else {
            return ["starting: the store is being opened, and perhaps migrated"]
        }
        var reasons: [String] = []
        let server = opened.server
        switch server.phase {
        case .starting: return ["starting: the server does not listen yet"]
        case .stopped: return ["stopped: the server has ended, and the process is about to"]
        case .draining: reasons.append("draining: the server shuts down, and takes no new requests")
        case .serving: break
        }
        // The engine gives its reserve back when it finds the disk full, and takes it again.
        if opened.reserveMissingBytes() > 0 {
            reasons.append("disk full: only deletes and administration are executed")
        }
        if !(await server.storeAnswers()) { reasons.append("store: it cannot be read") }
        return reasons + (await self.hangs())
    }
}
