import Logging
import NIOCore
import NIOPosix
import RecordModel
import RecordStore
import Synchronization
import Transport
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
        let onHello = self.machine.helloReceived(
            versions: hello.versions,
            windows: hello.windows,
            isService: hello.serviceKey != nil
        )
        switch onHello {
        case .signIn(let version): self.signIn(hello, version: version, proof: nil)
        case .challenge(let version): self.challenge(hello, version: version)
        case .close(let reason): self.close(reason)
        case .ignore: break
        }
    }

    /// Asks a service to sign what was never signed before.
    private func challenge(_ hello: Hello, version: UInt32) {
        let challenge = Challenge(nonce: RandomNames.bytes(Challenge.nonceBytes))
        self.challenged = ChallengedHello(hello: hello, version: version, nonce: challenge.nonce)
        self.write(Frame(kind: .challenge, payload: challenge.encoded()))
    }

    func proofReceived(_ proof: Proof) {
        switch self.machine.proofReceived() {
        case .signIn:
            guard let challenged = self.challenged.take() else { return self.close(.internalError) }
            let proof = ReceivedProof(
                nonce: challenged.nonce,
                certificateHash: self.certificateHash,
                signature: proof.signature
            )
            self.signIn(challenged.hello, version: challenged.version, proof: proof)
        case .close(let reason): self.close(reason)
        case .ignore: break
        }
    }

    private func signIn(_ hello: Hello, version: UInt32, proof: ReceivedProof?) {
        let authenticator = self.server.authenticator
        let back = LoopReturn(self)
        // A connection has no more than one look-up, and looks of one address wait behind each other.
        let isAdmitted = self.server.signIns.submit(of: self.account.holder, cost: 1) {
            let result = Result { () throws(SignInRefusal) in try authenticator.signIn(hello, proof: proof) }
            back { connection in
                switch result {
                case .success(let admittance):
                    connection.signedIn(admittance, hello: hello, version: version)
                case .failure(let refusal): connection.refused(hello, refusal)
                }
            }
        }
        if !isAdmitted { self.refused(hello, SignInRefusal(.overloaded)) }
    }

    private func signedIn(_ admittance: Admittance, hello: Hello, version: UInt32) {
        guard self.context != nil else { return }
        let signIn = admittance.signIn
        let user = ConnectionUser(
            signIn: signIn,
            container: hello.container,
            environment: hello.environment,
            installation: hello.installationID,
            network: self.network
        )
        guard self.belongs(to: user.holder) else {
            return self.close(.overloaded, detail: "connections of a user")
        }
        switch self.machine.signedIn(controlFrames: self.account.controlFrames) {
        case .welcome: break
        case .ignore: return
        }
        self.handshakeTimer?.cancel()
        self.handshakeTimer = nil
        self.user = user
        self.loopAccount = self.loop.turns.joined(self.account.holder)
        self.raiseFrameLimit(isStranger: signIn.userRecordName == nil)
        let configuration = self.server.configuration
        var limits = configuration.limits
        limits.requestBytesMax = UInt32(clamping: self.bounds.requestBytesMax)
        let welcome = Welcome(
            version: version,
            server: configuration.serverName,
            userRecordName: signIn.userRecordName ?? "",
            serverTimeMilliseconds: self.server.clock(),
            limits: limits,
            windows: configuration.windows
        )
        self.write(Frame(kind: .welcome, payload: welcome.encoded()))
        self.startKeepaliveTimer(at: self.eventLoop.now + TimeAmount(configuration.timeouts.idle))
        self.holdCredential(admittance)
        self.server.logger.debug(
            "signed in",
            metadata: [
                LogKeys.peer: "\(self.peerName)", LogKeys.container: "\(Self.loggable(hello.container))",
                LogKeys.user: "\(welcome.userRecordName)", LogKeys.client: "\(Self.loggable(hello.client))",
            ]
        )
    }

    /// Takes the connection into the account of whoever is signed in.
    ///
    /// `false`: there are as many of the holder's as there may be.
    private func belongs(to holder: AccountHolder) -> Bool {
        guard holder != self.account.holder else { return true }
        guard let account = self.server.accounts.signedIn(holder, instead: self.account) else { return false }
        self.account = account
        return true
    }

    private func refused(_ hello: Hello, _ refusal: SignInRefusal) {
        guard self.context != nil else { return }
        self.server.logger.info(
            "sign-in refused",
            metadata: [
                LogKeys.peer: "\(self.peerName)", LogKeys.container: "\(Self.loggable(hello.container))",
                LogKeys.client: "\(Self.loggable(hello.client))", LogKeys.reason: "\(refusal.reason.text)",
                LogKeys.detail: "\(refusal.detail)",
            ]
        )
        switch refusal.reason {
        case .notAuthenticated, .credentialExpired, .containerUnknown: break
        default: return self.close(refusal.reason, isLogged: true)
        }
        let pause = self.server.refusals.withLock {
            $0.refused(self.network, now: self.eventLoop.now)
        }
        guard pause > .zero else { return self.close(refusal.reason, isLogged: true) }
        self.eventLoop.assumeIsolated().scheduleTask(in: pause) {
            self.close(refusal.reason, isLogged: true)
        }
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

/// A hello whose sender is to prove that it has the key it names.
struct ChallengedHello {
    let hello: Hello
    let version: UInt32
    /// Random, and used here only.
    let nonce: [UInt8]
}
