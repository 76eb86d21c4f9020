import NIOCore
import NIOPosix
import NIOSSL
import WireProtocol

/// A client that says whatever it is told to, and hears until the server has had enough.
struct RawPeer {
    let channel: any Channel
    private let frames: AsyncStream<Frame>

    static func connect(
        port: Int,
        authorityFile: String?,
        applicationProtocols: [String] = [ProtocolVersion.alpn]
    ) async throws -> RawPeer {
        let (frames, continuation) = AsyncStream<Frame>.makeStream()
        let tls = try authorityFile.map { file in
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.trustRoots = .file(file)
            configuration.applicationProtocols = applicationProtocols
            return try NIOSSLContext(configuration: configuration)
        }
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let tls {
                        try pipeline.addHandler(
                            NIOSSLClientHandler(context: tls, serverHostname: "localhost")
                        )
                    }
                    try pipeline.addHandlers(
                        ByteToMessageHandler(FrameDecoder(payloadBytesMax: 4 * 1_024 * 1_024)),
                        Listener(continuation)
                    )
                }
            }
            .connect(host: "127.0.0.1", port: port)
            .get()
        return RawPeer(channel: channel, frames: frames)
    }

    /// A server that has closed already is what some tests expect.
    func send(_ bytes: [UInt8]) async {
        try? await self.channel.writeAndFlush(ByteBuffer(bytes: bytes))
    }

    func send(_ frame: Frame) async {
        var bytes = ByteBuffer()
        FrameEncoder.write(frame, into: &bytes)
        try? await self.channel.writeAndFlush(bytes)
    }

    func next() async -> Frame? {
        for await frame in self.frames { return frame }
        return nil
    }

    /// The reason of the `goaway` that the server sent before it closed, or `nil` if it sent none.
    func closeReason() async throws -> CloseReason? {
        var reason: CloseReason?
        for await frame in self.frames where frame.kind == .goaway {
            reason = try GoAway(decoding: frame.payload).reason
        }
        return reason
    }
}

/// Hands frames over; ends with the connection, however that ends.
private final class Listener: ChannelInboundHandler {
    typealias InboundIn = Frame

    private let continuation: AsyncStream<Frame>.Continuation

    init(_ continuation: AsyncStream<Frame>.Continuation) {
        self.continuation = continuation
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.continuation.yield(self.unwrapInboundIn(data))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.continuation.finish()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.continuation.finish()
    }
}
