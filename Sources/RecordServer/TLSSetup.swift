import NIOCore
import NIOSSL
import NIOTLS
import Synchronization
import SystemCrypto
import WireProtocol

/// The server's certificate and its key, in PEM.
package struct TLSMaterial: Hashable, Sendable {
    /// The server's certificate first.
    package let certificateChain: String
    package let privateKey: String

    package init(certificateChain: String, privateKey: String) {
        self.certificateChain = certificateChain
        self.privateKey = privateKey
    }
}

/// TLS as the protocol requires it: version 1.3, one application protocol.
///
/// BoringSSL accepts a client that offers no supported application protocol; so the handler checks
/// the negotiated one before it reads the first frame.
enum TLSSetup {
    struct Server: Sendable {
        let context: NIOSSLContext
        /// The same for HTTP/1.1.
        let webContext: NIOSSLContext
        /// SHA-256 of the certificate in DER: services sign it, so that their signatures are valid
        /// for this server only.
        let certificateHash: [UInt8]
        /// When the certificate expires, in seconds since 1970.
        let certificateEndSeconds: Int64
    }

    /// Reads certificate and key.
    ///
    /// - Throws: NIOSSL's error about an unusable text.
    static func serverContext(_ material: TLSMaterial) throws -> Server {
        let chain = try NIOSSLCertificate.fromPEMBytes(Array(material.certificateChain.utf8))
        let key = try NIOSSLPrivateKey(bytes: Array(material.privateKey.utf8), format: .pem)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) },
            privateKey: .privateKey(key)
        )
        configuration.minimumTLSVersion = .tlsv13
        configuration.applicationProtocols = [ProtocolVersion.alpn]
        // Frames mark the end of a conversation: the peer's `close_notify` is not worth a long
        // wait.
        configuration.shutdownTimeout = .seconds(1)
        let hash = try chain.first.map { SHA256.hash(try $0.toDERBytes()) }
        var web = configuration
        web.applicationProtocols = ["http/1.1"]
        return Server(
            context: try NIOSSLContext(configuration: configuration),
            webContext: try NIOSSLContext(configuration: web),
            certificateHash: hash ?? [],
            certificateEndSeconds: chain.first.map { Int64($0.notValidAfter) } ?? 0
        )
    }

    /// The handler of one connection.
    ///
    /// Buffer memory of a large response is released while the connection is idle.
    static func handler(_ context: NIOSSLContext) -> NIOSSLServerHandler {
        var configuration = NIOSSLHandler.Configuration()
        configuration.maximumPreservedOutboundBufferCapacity = 32 * 1_024
        return NIOSSLServerHandler(context: context, configuration: configuration)
    }

    /// The application protocol of a TLS handshake, if `event` says that it finished.
    static func negotiatedProtocol(_ event: Any) -> String?? {
        guard case .handshakeCompleted(let name)? = event as? TLSUserEvent else { return nil }
        return .some(name)
    }
}

/// The certificate of new connections; replaced while the server runs.
final class ServedCertificate: Sendable {
    private let server: Mutex<TLSSetup.Server>

    init(_ material: TLSMaterial) throws {
        self.server = Mutex(try TLSSetup.serverContext(material))
    }

    var current: TLSSetup.Server { self.server.withLock { $0 } }

    func replace(_ material: TLSMaterial) throws {
        let server = try TLSSetup.serverContext(material)
        self.server.withLock { $0 = server }
    }
}
