import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import WireProtocol

/// Asks whether a server answers: a TLS handshake that ends with the protocol's name, and nothing
/// behind it.
package enum ServerProbe {
    /// Whether something that speaks the protocol answers in time.
    ///
    /// The certificate is not looked at: the caller knows which process has the address.
    package static func answers(host: String, port: Int, timeout: Duration) async -> Bool {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateVerification = .none
        configuration.minimumTLSVersion = .tlsv13
        configuration.applicationProtocols = [ProtocolVersion.alpn]
        guard let context = try? NIOSSLContext(configuration: configuration) else { return false }
        let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
        let answer = eventLoop.makePromise(of: Bool.self)
        // Those who come too late find it answered.
        let deadline = eventLoop.scheduleTask(in: TimeAmount(timeout)) { answer.succeed(false) }
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
        connected.whenFailure { _ in answer.succeed(false) }
        let answers = (try? await answer.futureResult.get()) ?? false
        deadline.cancel()
        connected.whenSuccess { $0.close(promise: nil) }
        return answers
    }
}

/// Keeps the first thing that is known of a handshake.
private final class HandshakeWait: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let answer: EventLoopPromise<Bool>

    init(_ answer: EventLoopPromise<Bool>) {
        self.answer = answer
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let name = TLSSetup.negotiatedProtocol(event) { self.answer.succeed(name == ProtocolVersion.alpn) }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.answer.succeed(false)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.answer.succeed(false)
        context.fireChannelInactive()
    }
}
