import NIOCore
import RecordModel
import RecordStore
import StorageContract
import Transport
import WireProtocol

// A connection from hello to its end.
extension ConnectionHandler {
    func helloReceived(_ hello: Hello) {
        let action = self.connection.machine.helloReceived(
            versions: hello.versions,
            windows: hello.windows,
            isService: hello.serviceKey != nil
        )
        switch action {
        case .signIn(let version): self.handshake?.signIn(hello, version: version)
        case .challenge(let version): self.handshake?.challenge(hello, version: version)
        case .close(let reason): self.connection.close(reason)
        case .ignore: break
        }
    }

    func proofReceived(_ proof: Proof) {
        switch self.connection.machine.proofReceived() {
        case .signIn: self.handshake?.signIn(with: proof)
        case .close(let reason): self.connection.close(reason)
        case .ignore: break
        }
    }

    /// Lets the client make requests.
    func letIn(_ guest: ConnectionHandshake.Guest) {
        self.handshake?.end()
        self.handshake = nil
        let bounds = guest.bounds
        let isStranger = guest.user.signIn.userRecordName == nil
        let requestFrameBytesMax = bounds.requestBytesMax + Bounds.requestFramingBytesMax
        self.frames.payloadBytesMax =
            isStranger ? min(bounds.frameBytesMax, requestFrameBytesMax) : bounds.frameBytesMax
        let connection = self.connection
        self.time.joined(connection.loop.turns.joined(connection.account.holder))
        self.requests = ConnectionRequests(
            connection,
            server: self.server,
            responses: self.responses,
            user: guest.user,
            bounds: bounds
        )
        let idle = TimeAmount(self.server.configuration.timeouts.idle)
        self.startKeepaliveTimer(at: connection.eventLoop.now + idle)
        self.credential = ConnectionCredential(guest.admittance, of: connection, server: self.server)
    }

    // MARK: - Keepalive

    private func startKeepaliveTimer(at time: NIODeadline) {
        let eventLoop = self.connection.eventLoop
        self.keepaliveTimer = eventLoop.assumeIsolated().scheduleTask(deadline: time) {
            self.keepaliveTimerFired()
        }
    }

    private func keepaliveTimerFired() {
        guard self.connection.isOpen else { return }
        switch self.keepalive.timerFired(at: self.connection.eventLoop.now) {
        case .wait(let until):
            self.startKeepaliveTimer(at: until)
        case .ping(let until):
            self.connection.write(Frame(kind: .ping, payload: Ping(value: 0).encoded()))
            self.connection.flush()
            self.startKeepaliveTimer(at: until)
        case .close:
            self.connection.close(.idle)
        }
    }

    // MARK: - The end

    /// Drains for shutdown: requests in flight are answered, new ones are refused.
    func drain() {
        switch self.connection.machine.drainStarted() {
        case .announce:
            let goaway = GoAway(reason: .drain, message: CloseReason.drain.text)
            self.connection.write(Frame(kind: .goaway, payload: goaway.encoded()))
            self.requests?.endTransfers(failure: Failure(StoreError.shuttingDown))
            self.connection.flush()
        case .announceAndClose:
            self.connection.close(.drain)
        case .ignore:
            break
        }
    }

    /// Releases everything that the parts hold.
    func ended() {
        self.requests?.removeAll()
        self.credential?.end()
        self.handshake?.end()
        self.handshake = nil
        self.frameTimer?.cancel()
        self.frameTimer = nil
        self.keepaliveTimer?.cancel()
        self.keepaliveTimer = nil
        self.unfinished.end(in: self.connection.account)
        self.responses.removeAll()
    }
}
