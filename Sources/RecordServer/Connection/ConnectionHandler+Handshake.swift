import Logging
import NIOCore
import NIOPosix
import RecordStore
import WireProtocol

// The handshake: a hello, a look into the directory on a thread of its own, a welcome.
extension ConnectionHandler {
    func startHandshakeTimer() {
        let timeout = TimeAmount(self.server.configuration.timeouts.handshake)
        self.handshakeTimer = self.eventLoop.assumeIsolated().scheduleTask(in: timeout) {
            if self.machine.handshakeTimeoutPassed() { self.close(.handshakeTimeout) }
        }
    }

    func helloReceived(_ hello: Hello) {
        switch self.machine.helloReceived(versions: hello.versions, windows: hello.windows) {
        case .signIn(let version): self.signIn(hello, version: version)
        case .close(let reason): self.close(reason)
        case .ignore: break
        }
    }

    private func signIn(_ hello: Hello, version: UInt32) {
        let authenticator = self.server.authenticator
        let lookUp = self.server.signInThreads.runIfActive(eventLoop: self.eventLoop) {
            Result { () throws(SignInRefusal) in try authenticator.signIn(hello) }
        }
        lookUp.assumeIsolated().whenComplete { result in
            switch result {
            case .success(.success(let signIn)): self.signedIn(signIn, hello: hello, version: version)
            case .success(.failure(let refusal)): self.refused(hello, reason: refusal.reason)
            case .failure: self.refused(hello, reason: .overloaded)
            }
            self.flush()
        }
    }

    private func signedIn(_ signIn: SignIn, hello: Hello, version: UInt32) {
        switch self.machine.signedIn() {
        case .welcome: break
        case .ignore: return
        }
        self.handshakeTimer?.cancel()
        self.handshakeTimer = nil
        self.user = ConnectionUser(
            signIn: signIn,
            container: hello.container,
            environment: hello.environment,
            installation: hello.installationID
        )
        self.raiseFrameLimit()
        let configuration = self.server.configuration
        let welcome = Welcome(
            version: version,
            server: configuration.serverName,
            userRecordName: signIn.userRecordName ?? "",
            serverTimeMilliseconds: self.server.clock(),
            limits: configuration.limits,
            windows: configuration.windows
        )
        self.write(Frame(kind: .welcome, payload: welcome.encoded()))
        self.startKeepaliveTimer(at: self.eventLoop.now + TimeAmount(configuration.timeouts.idle))
        self.server.logger.debug(
            "signed in",
            metadata: [
                LogKeys.peer: "\(self.peerName)", LogKeys.container: "\(Self.loggable(hello.container))",
                LogKeys.user: "\(welcome.userRecordName)", LogKeys.client: "\(Self.loggable(hello.client))",
            ]
        )
    }

    private func refused(_ hello: Hello, reason: CloseReason) {
        guard self.context != nil else { return }
        self.server.logger.info(
            "sign-in refused",
            metadata: [
                LogKeys.peer: "\(self.peerName)", LogKeys.container: "\(Self.loggable(hello.container))",
                LogKeys.client: "\(Self.loggable(hello.client))", LogKeys.reason: "\(reason.text)",
            ]
        )
        self.close(reason, isLogged: true)
    }

    /// Text of a peer, without what could end a line of the log.
    private static func loggable(_ text: String) -> String {
        String(decoding: text.utf8.filter { (0x20...0x7E).contains($0) }, as: UTF8.self)
    }

    func startKeepaliveTimer(at time: NIODeadline) {
        self.keepaliveTimer = self.eventLoop.assumeIsolated().scheduleTask(deadline: time) {
            self.keepaliveTimerFired()
        }
    }

    private func keepaliveTimerFired() {
        guard self.context != nil else { return }
        switch self.keepalive.timerFired(at: self.eventLoop.now) {
        case .wait(let until):
            self.startKeepaliveTimer(at: until)
        case .ping(let until):
            self.write(Frame(kind: .ping, payload: Ping(value: 0).encoded()))
            self.flush()
            self.startKeepaliveTimer(at: until)
        case .close:
            self.close(.idle)
        }
    }
}
