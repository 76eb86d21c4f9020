import RecordServer
import StorageContract
import Synchronization

/// Whether the server is alive, and whether it takes requests.
final class ServerHealth: Sendable {
    private static let loopTimeout = Duration.seconds(2)

    /// The server, and the state of a store on a full disk; `nil` until the store is open.
    private let opened = Mutex<(server: RecordServer, whenFull: String)?>(nil)

    /// The server with this health; `nil` until the store is open.
    var server: RecordServer? { self.opened.withLock { $0?.server } }

    /// Takes the server of a store that was opened.
    func opened(_ server: RecordServer, whenFull: String) {
        self.opened.withLock { $0 = (server, whenFull) }
    }

    /// Why the process should be started again; empty if it is alive.
    func hangs() async -> [String] {
        guard let server = self.server else { return [] }
        let answers = await server.loopsAnswer(within: Self.loopTimeout)
        return answers ? [] : ["hanging: an event loop did not answer within 2 seconds"]
    }

    /// Why clients should not be sent here now; empty if they should.
    func unreadiness() async -> [String] {
        guard let server = self.server else {
            return ["starting: the store is being opened, and perhaps migrated"]
        }
        var reasons: [String] = []
        switch server.phase {
        case .starting: return ["starting: the server does not listen yet"]
        case .stopped: return ["stopped: the server has ended, and the process is about to"]
        case .draining: reasons.append("draining: the server shuts down, and takes no new requests")
        case .serving: break
        }
        switch server.storeCondition {
        case .works: break
        case .full: reasons.append("disk full: \(self.opened.withLock { $0?.whenFull ?? "" })")
        case .fails(let code):
            reasons.append("disk: the last change could not be written (error \(code) of the store)")
        }
        if !(await server.storeAnswers()) { reasons.append("store: it cannot be read") }
        return reasons + (await self.hangs())
    }
}
