import NIOCore
import NIOPosix
import NIOSSL
import Synchronization
import WireProtocol

/// Connects over TCP and TLS 1.3.
///
/// The only file that knows the TLS library.
final class TLSConnector: Sendable {
    private let host: String
    private let port: Int
    private let trust: ClientConfiguration.Trust
    private let connectTimeout: TimeAmount
    /// How long a connection that this side has closed waits for the server's TLS to say the same.
    ///
    /// Frames say where a conversation ends, so that nothing depends on it.
    static let farewellMax: TimeAmount = .milliseconds(250)
    /// Made once: reading the system's authorities takes milliseconds.
    private let context = Mutex<NIOSSLContext?>(nil)

    init(_ configuration: ClientConfiguration) {
        self.host = configuration.host
        self.port = configuration.port
        self.trust = configuration.trust
        self.connectTimeout = TimeAmount(configuration.connectTimeout)
    }

    /// Connects on the loop and puts the handler behind TLS.
    ///
    /// - Returns: Succeeds when TCP is connected; fails with `ConnectionEnd`, or an error that
    ///   becomes one.
    func connect(on eventLoop: any EventLoop, handler: ClientConnectionHandler) -> EventLoopFuture<Void> {
        let tls: NIOSSLClientHandler
        do {
            tls = try NIOSSLClientHandler(context: self.tlsContext(), serverHostname: self.serverName)
        } catch {
            return eventLoop.makeFailedFuture(
                error as? ConnectionEnd
                    ?? .misconfigured("the host name or the authorities are unusable: \(error)")
            )
        }
        let handlers = NIOLoopBound((tls, handler), eventLoop: eventLoop)
        return ClientBootstrap(group: eventLoop)
            .connectTimeout(self.connectTimeout)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            // Room for a piece of an upload; a small request waits for no more than this.
            .channelOption(
                .writeBufferWaterMark,
                value: ChannelOptions.Types.WriteBufferWaterMark(low: 64 * 1_024, high: 256 * 1_024)
            )
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(handlers.value.0)
                    try channel.pipeline.syncOperations.addHandler(handlers.value.1)
                }
            }
            .connect(host: self.host, port: self.port)
            .map { _ in }
    }

    /// What the server showed, in DER; `nil` for a channel without TLS.
    static func serverCertificate(of pipeline: ChannelPipeline) -> [UInt8]? {
        try? pipeline.syncOperations.nioSSL_peerCertificate()?.toDERBytes()
    }

    /// The name that TLS sends; `nil` for an IP address.
    ///
    /// The address is still compared with the certificate.
    private var serverName: String? {
        (try? SocketAddress(ipAddress: self.host, port: self.port)) == nil ? self.host : nil
    }

    private func tlsContext() throws -> NIOSSLContext {
        try self.context.withLock { context in
            if let context { return context }
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.minimumTLSVersion = .tlsv13
            tls.applicationProtocols = [ProtocolVersion.alpn]
            tls.certificateVerification = .fullVerification
            tls.shutdownTimeout = Self.farewellMax
            tls.trustRoots = try self.trustRoots()
            let made = try NIOSSLContext(configuration: tls)
            context = made
            return made
        }
    }

    private func trustRoots() throws(ConnectionEnd) -> NIOSSLTrustRoots {
        let authorities: [NIOSSLCertificate]
        switch self.trust {
        case .system: return .default
        case .authorities(let file):
            do {
                authorities = try NIOSSLCertificate.fromPEMFile(file)
            } catch {
                throw .unusableAuthority(file)
            }
        case .pem(let text):
            do {
                authorities = try NIOSSLCertificate.fromPEMBytes(Array(text.utf8))
            } catch {
                throw .misconfigured("the text given as its authority has no certificate in PEM")
            }
        }
        guard !authorities.isEmpty else {
            throw .misconfigured("no certificate authority (TIDEMARK_CA) is given")
        }
        return .certificates(authorities)
    }
}

extension ConnectionEnd {
    /// Says in words what the channel, the sockets or TLS report.
    init(_ error: any Error) {
        switch error {
        case let end as ConnectionEnd: self = end
        case let error as NIOConnectionError: self.init(error)
        case let error as IOError: self.init(error)
        case ChannelError.connectTimeout: self = .broken("no answer to the attempt to connect")
        case NIOSSLError.uncleanShutdown: self = .broken("the server closed the connection")
        case NIOSSLError.handshakeFailed(.sslError(let stack)): self.init(handshakeFailure: "\(stack)")
        case is NIOSSLExtraError:
            self = .misconfigured("its certificate is for another host name: connect by a name that it has")
        case NIOSSLError.unableToValidateCertificate: self = .untrusted
        default: self = .broken("\(error)")
        }
    }

    private static let untrusted = ConnectionEnd.misconfigured(
        "its certificate is not signed by an authority that is trusted here: name the server's CA file (TIDEMARK_CA)"
    )

    /// Tells a file that can't be read from one with something else in it.
    fileprivate static func unusableAuthority(_ file: String) -> ConnectionEnd {
        guard access(file, R_OK) != 0 else {
            return .misconfigured("\(file), named as its authority (TIDEMARK_CA), has no certificate in PEM")
        }
        let reason = String(cString: strerror(errno))
        return .misconfigured("\(file), named as its authority (TIDEMARK_CA), cannot be read: \(reason)")
    }

    /// - Parameter stack: BoringSSL's text; it has no other form outside the library.
    private init(handshakeFailure stack: String) {
        if stack.contains("EOF during handshake") {
            self = .broken("the server closed the connection in the TLS handshake")
        } else if stack.contains("CERTIFICATE_VERIFY_FAILED") {
            self = .untrusted
        } else {
            self = .misconfigured("the TLS handshake failed: is the port a Tidemark server's? \(stack)")
        }
    }
}

extension ConnectionEnd {
    /// Takes the failure of the first address, unless another address failed for a reason that
    /// shows a network.
    private init(_ error: NIOConnectionError) {
        let failures = error.connectionErrors.map(\.error)
        guard
            let failure = failures.first(where: { ($0 as? IOError)?.isOfNoNetwork == false })
                ?? failures.first
        else {
            self = .broken("the name \(error.host) is not found")
            return
        }
        self = (failure as? IOError).map { ConnectionEnd($0) } ?? .broken("\(failure)")
    }

    private init(_ error: IOError) {
        self = error.isOfNoNetwork ? .offline(error.text) : .broken(error.text)
    }
}

extension IOError {
    fileprivate var isOfNoNetwork: Bool { self.errnoCode == ENETUNREACH || self.errnoCode == ENETDOWN }

    fileprivate var text: String {
        switch self.errnoCode {
        case ENETUNREACH, ENETDOWN: "this machine has no network"
        case ECONNREFUSED: "the connection was refused: no server listens there"
        case ECONNRESET, EPIPE: "the connection was reset"
        case EHOSTUNREACH: "the host cannot be reached"
        default: self.description
        }
    }
}
