import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import WireProtocol

/// Checks whether a server answers: a TLS handshake that ends with the protocol's name, and nothing
/// after it.
package enum ServerProbe {
    package struct Answer: Sendable {
        /// When the server's certificate expires, in seconds since 1970.
        package let certificateEndSeconds: Int64?
    }

    /// The answer of a server that speaks the protocol; `nil` if none comes in time.
    ///
    /// The certificate need not be valid: the caller knows which process has the address.
    package static func answer(host: String, port: Int, timeout: Duration) async -> Answer? {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateVerification = .none
        configuration.minimumTLSVersion = .tlsv13
        configuration.applicationProtocols = [ProtocolVersion.alpn]
        guard let context = try? NIOSSLContext(configuration: configuration) else { return nil }
        let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
        let answer = eventLoop.makePromise(of: Answer?.self)
        // Later results have no effect.
        let deadline = eventLoop.scheduleTask(in: TimeAmount(timeout)) { answer.succeed(nil) }
        let connected = ClientBootstrap(group: eventLoop)
            .connectTimeout(TimeAmount(timeout))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(
                        NIOSSLClientHandler(context: context, serverHostname: nil),
                        HandshakeWait(answer)
                    )
                }
            }
            .connect(host: host, port: port)
        connected.whenFailure { _ in answer.succeed(nil) }
        let answered = (try? await answer.futureResult.get()) ?? nil
        deadline.cancel()
        connected.whenSuccess { $0.close(promise: nil) }
        return answered
    }
}

/// Keeps the first result of a handshake.
private final class HandshakeWait: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let answer: EventLoopPromise<ServerProbe.Answer?>

    init(_ answer: EventLoopPromise<ServerProbe.Answer?>) {
        self.answer = answer
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let name = TLSSetup.negotiatedProtocol(event) {
            let certificate = try? context.channel.pipeline.syncOperations.nioSSL_peerCertificate()
            let answer = ServerProbe.Answer(
                certificateEndSeconds: certificate.map { Int64($0.notValidAfter) }
            )
            self.answer.succeed(name == ProtocolVersion.alpn ? answer : nil)
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.answer.succeed(nil)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.answer.succeed(nil)
        context.fireChannelInactive()
    }
}
