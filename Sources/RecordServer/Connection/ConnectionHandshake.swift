import Admission
import Logging
import NIOCore
import RecordModel
import RecordStore
import Synchronization
import Transport
import WireProtocol

/// The steps of a handshake that take time: challenge, directory look-up, delay of a refusal.
///
/// The look-up runs on its own thread. Dropped when the client is signed in or the connection has
/// ended.
final class ConnectionHandshake {
    /// A signed-in client.
    struct Guest {
        let user: ConnectionUser
        let admittance: Admittance
        /// The bounds for requests of the connection.
        let bounds: Bounds
    }

    /// A hello of a sender that must prove that it holds the key it names.
    private struct Challenged {
        let hello: Hello
        let version: UInt32
        /// Random, for a single use.
        let nonce: [UInt8]
    }

    private let connection: Connection
    private let server: ServerContext
    /// SHA-256 of the server's certificate.
    private let certificateHash: [UInt8]
    /// Called once, before the welcome is sent.
    private let letIn: (Guest) -> Void
    private var timer: Scheduled<Void>?
    /// The hello of a pending challenge.
    private var challenged: Challenged?

    init(
        _ connection: Connection,
        server: ServerContext,
        certificateHash: [UInt8],
        letIn: @escaping (Guest) -> Void
    ) {
        self.connection = connection
        self.server = server
        self.certificateHash = certificateHash
        self.letIn = letIn
    }

    /// Starts the timeout of TLS and the handshake.
    func startTimer() {
        let timeout = TimeAmount(self.server.configuration.timeouts.handshake)
        self.timer = self.connection.eventLoop.assumeIsolated().scheduleTask(in: timeout) {
            if self.connection.machine.handshakeTimeoutPassed() { self.connection.close(.handshakeTimeout) }
        }
    }

    /// Ends the timer; pending steps then find the connection ended.
    func end() {
        self.timer?.cancel()
        self.timer = nil
        self.challenged = nil
    }

    // MARK: - Steps

    /// Sends a service a fresh nonce to sign.
    func challenge(_ hello: Hello, version: UInt32) {
        let challenge = Challenge(nonce: RandomNames.bytes(Challenge.nonceBytes))
        self.challenged = Challenged(hello: hello, version: version, nonce: challenge.nonce)
        self.connection.write(Frame(kind: .challenge, payload: challenge.encoded()))
    }

    /// Signs in a service that has answered its challenge.
    func signIn(with proof: Proof) {
        guard let challenged = self.challenged.take() else { return self.connection.close(.internalError) }
        let proof = ReceivedProof(
            nonce: challenged.nonce,
            certificateHash: self.certificateHash,
            signature: proof.signature
        )
        self.signIn(challenged.hello, version: challenged.version, proof: proof)
    }

    /// Looks up the credential of a hello.
    func signIn(_ hello: Hello, version: UInt32, proof: ReceivedProof? = nil) {
        let authenticator = self.server.authenticator
        let back = LoopReturn(self, of: self.connection)
        // A connection has at most one look-up, and those of one address are queued.
        let isAdmitted = self.server.signIns.submit(of: self.connection.account.holder, cost: 1) {
            let result = Result { () throws(SignInRefusal) in try authenticator.signIn(hello, proof: proof) }
            back { handshake in
                switch result {
                case .success(let admittance):
                    handshake.signedIn(admittance, hello: hello, version: version)
                case .failure(let refusal): handshake.refused(hello, refusal)
                }
            }
        }
        if !isAdmitted { self.refused(hello, SignInRefusal(.overloaded)) }
    }

    private func signedIn(_ admittance: Admittance, hello: Hello, version: UInt32) {
        guard self.connection.isOpen else { return }
        let user = ConnectionUser(
            signIn: admittance.signIn,
            container: hello.container,
            environment: hello.environment,
            installation: hello.installationID,
            network: self.connection.network,
            readOnlyKeyID: admittance.readOnlyKeyID,
            isRestricted: admittance.isRestricted
        )
        guard self.belongs(to: user.holder) else {
            return self.connection.close(.overloaded, detail: "connections of a user")
        }
        switch self.connection.machine.signedIn(controlFrames: self.connection.account.controlFrames) {
        case .welcome: break
        case .ignore: return
        }
        var bounds = self.server.configuration.bounds
        if user.signIn.userRecordName == nil { bounds.limitToStrangers() }
        self.writeWelcome(to: user, version: version, bounds: bounds)
        self.connection.signedIn(user)
        self.server.logger.debug(
            "signed in",
            metadata: self.connection.label.metadata([LogKeys.client: "\(Self.loggable(hello.client))"])
        )
        self.letIn(Guest(user: user, admittance: admittance, bounds: bounds))
    }

    /// Moves the connection to the account of the signed-in user.
    ///
    /// - Returns: `false` if the holder has the maximum number of connections.
    private func belongs(to holder: AccountHolder) -> Bool {
        let address = self.connection.account
        guard holder != address.holder else { return true }
        guard let account = self.server.accounts.signedIn(holder, instead: address) else { return false }
        self.connection.account = account
        return true
    }

    private func writeWelcome(to user: ConnectionUser, version: UInt32, bounds: Bounds) {
        let configuration = self.server.configuration
        var limits = configuration.limits
        limits.requestBytesMax = UInt32(clamping: bounds.requestBytesMax)
        // It may have changed since the start.
        limits.userBytesMax = UInt64(clamping: self.server.store.quotas.userBytes)
        var welcome = Welcome(
            version: version,
            server: configuration.serverName,
            userRecordName: user.signIn.userRecordName ?? "",
            serverTimeMilliseconds: self.server.clock(),
            limits: limits,
            windows: configuration.windows
        )
        welcome.isRestricted = user.isRestricted
        self.connection.write(Frame(kind: .welcome, payload: welcome.encoded()))
    }

    private func refused(_ hello: Hello, _ refusal: SignInRefusal) {
        guard self.connection.isOpen else { return }
        self.server.logger.info(
            "sign-in refused",
            metadata: self.connection.label.metadata([
                LogKeys.container: "\(Self.loggable(hello.container))",
                LogKeys.client: "\(Self.loggable(hello.client))",
                LogKeys.reason: "\(refusal.reason.text)", LogKeys.detail: "\(refusal.detail)",
            ])
        )
        switch refusal.reason {
        case .notAuthenticated, .credentialExpired, .containerUnknown: break
        default: return self.connection.close(refusal.reason, isLogged: true)
        }
        let pause = self.server.refusals.withLock {
            $0.refused(self.connection.network, now: self.connection.eventLoop.now)
        }
        guard pause > .zero else { return self.connection.close(refusal.reason, isLogged: true) }
        self.connection.eventLoop.assumeIsolated().scheduleTask(in: pause) {
            self.connection.close(refusal.reason, isLogged: true)
        }
    }

    /// Text of a peer, without characters that could end a log line.
    private static func loggable(_ text: String) -> String {
        String(decoding: text.utf8.filter { (0x20...0x7E).contains($0) }, as: UTF8.self)
    }
}

extension Bounds {
    /// Limits requests of users who are not signed in.
    mutating func limitToStrangers() {
        self.requestBytesMax = min(self.requestBytesMax, Self.strangerRequestBytesMax)
    }
}
