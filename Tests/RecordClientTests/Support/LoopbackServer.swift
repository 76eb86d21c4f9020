import NIOCore
import NIOPosix
import NIOSSL
import WireProtocol

@testable import RecordClient

/// A server over TLS on loopback that answers each request with one deleted item, except those it
/// is told to drop.
final class LoopbackServer: Sendable {
    let port: Int
    private let channel: any Channel

    /// Agrees to speak `alpn` alone; with `dropFirstRequest` it closes the connection that its
    /// first request comes on.
    init(
        _ certificates: TestCertificates,
        alpn: String = ProtocolVersion.alpn,
        dropFirstRequest: Bool = false
    ) async throws {
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(certificates.certificate).map {
                .certificate($0)
            },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: certificates.key, format: .pem))
        )
        tls.applicationProtocols = [alpn]
        let context = try NIOSSLContext(configuration: tls)
        let drops = OnceFlag(dropFirstRequest)
        self.channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                    try channel.pipeline.syncOperations.addHandler(
                        ByteToMessageHandler(FrameDecoder(payloadBytesMax: 1 << 22))
                    )
                    try channel.pipeline.syncOperations.addHandler(Answerer(drops: drops))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        self.port = self.channel.localAddress?.port ?? 0
    }

    func close() async throws {
        try await self.channel.close()
    }
}
