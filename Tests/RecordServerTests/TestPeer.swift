import Crypto
import NIOCore
import NIOPosix
import NIOSSL
import RecordModel
import WireProtocol

/// The other end of a connection, frame by frame: it says what it is told to, right or wrong.
final class TestPeer {
    let channel: any Channel
    private var frames: AsyncStream<Frame>.Iterator

    private init(channel: any Channel, frames: AsyncStream<Frame>) {
        self.channel = channel
        self.frames = frames.makeAsyncIterator()
    }

    static func connect(
        port: Int,
        authorityPEM: String,
        applicationProtocols: [String] = [ProtocolVersion.alpn]
    ) async throws -> TestPeer {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(authorityPEM.utf8)))
        configuration.applicationProtocols = applicationProtocols
        let tls = try NIOSSLContext(configuration: configuration)
        return try await self.connect(port: port) { pipeline in
            try pipeline.addHandler(NIOSSLClientHandler(context: tls, serverHostname: "localhost"))
        }
    }

    /// A peer that does not speak TLS.
    static func connectPlain(port: Int) async throws -> TestPeer {
        try await self.connect(port: port) { _ in }
    }

    private static func connect(
        port: Int,
        tls: @escaping @Sendable (ChannelPipeline.SynchronousOperations) throws -> Void
    ) async throws -> TestPeer {
        let (frames, continuation) = AsyncStream<Frame>.makeStream()
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try tls(channel.pipeline.syncOperations)
                    try channel.pipeline.syncOperations.addHandlers(
                        ByteToMessageHandler(FrameDecoder(payloadBytesMax: 64 * 1_024 * 1_024)),
                        FrameCollector(continuation)
                    )
                }
            }
            .connect(host: "127.0.0.1", port: port)
            .get()
        return TestPeer(channel: channel, frames: frames)
    }

    /// The next frame; `nil` when the connection has ended.
    func next() async -> Frame? {
        await self.frames.next(isolation: #isolation)
    }

    /// Everything up to the end of the connection.
    func rest() async -> [Frame] {
        var rest: [Frame] = []
        while let frame = await self.next() { rest.append(frame) }
        return rest
    }

    func send(_ frames: [Frame]) async throws {
        var bytes = ByteBuffer()
        for frame in frames { FrameEncoder.write(frame, into: &bytes) }
        try await self.send(bytes)
    }

    func send(_ frame: Frame) async throws {
        try await self.send([frame])
    }

    func send(_ bytes: ByteBuffer) async throws {
        try await self.channel.writeAndFlush(bytes)
    }

    func send(_ operation: Operation, on stream: UInt32, deadlineMilliseconds: UInt32 = 0) async throws {
        try await self.send(.request(operation, on: stream, deadlineMilliseconds: deadlineMilliseconds))
    }

    /// The answer to a stream that is the only one open.
    func answer(on stream: UInt32) async throws -> (items: [Item], end: End) {
        var items: [Item] = []
        while let frame = await self.next() {
            switch frame.kind {
            case .items where frame.stream == stream:
                items += try Items(decoding: frame.payload).items
            case .end where frame.stream == stream:
                return (items, try End(decoding: frame.payload))
            case .credit:
                continue
            default:
                throw UnexpectedFrame(frame: frame)
            }
        }
        throw UnexpectedFrame(frame: nil)
    }

    /// SHA-256 of the certificate that the server showed.
    func certificateHash() async throws -> [UInt8] {
        guard let certificate = try await self.channel.nioSSL_peerCertificate().get() else {
            throw UnexpectedFrame(frame: nil)
        }
        return Array(SHA256.hash(data: try certificate.toDERBytes()))
    }

    func close() async {
        try? await self.channel.close()
    }
}

struct UnexpectedFrame: Error {
    var frame: Frame?
}

extension Frame {
    static func request(
        _ operation: Operation,
        on stream: UInt32,
        requestID: RequestID? = nil,
        deadlineMilliseconds: UInt32 = 0
    ) -> Frame {
        var generator = SystemRandomNumberGenerator()
        let fresh = RequestID(milliseconds: ServerUnderTest.startMilliseconds, using: &generator)
        let request = Request(
            requestID: operation.isMutating ? requestID ?? fresh : nil,
            deadlineMilliseconds: deadlineMilliseconds,
            operation: operation
        )
        return Frame(kind: .request, stream: stream, payload: request.encoded())
    }

    static func hello(
        versions: [UInt32] = [1],
        container: String = ServerUnderTest.container,
        token: String,
        installation: [UInt8] = [],
        windows: Windows = .defaults
    ) -> Frame {
        let hello = Hello(
            versions: versions,
            container: container,
            environment: .development,
            accessToken: token,
            installationID: installation,
            client: "test",
            windows: windows
        )
        return Frame(kind: .hello, payload: hello.encoded())
    }

    static func credit(_ bytes: UInt32, on stream: UInt32 = 0) -> Frame {
        Frame(kind: .credit, stream: stream, payload: Credit(bytes: bytes).encoded())
    }
}

/// Hands frames to the test; the end of the stream is the end of the connection, however it came.
private final class FrameCollector: ChannelInboundHandler {
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
