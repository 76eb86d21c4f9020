import NIOCore
import NIOEmbedded
import NIOTLS
import Testing
import WireProtocol

/// The server's end of one connection.
final class ScriptedConnection {
    private let channel: EmbeddedChannel
    private var sent = ByteBuffer()

    init(_ channel: EmbeddedChannel) {
        self.channel = channel
    }

    func connect() -> EventLoopFuture<Void> {
        do {
            return self.channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 7430))
        } catch {
            return self.channel.eventLoop.makeFailedFuture(error)
        }
    }

    var isOpen: Bool { self.channel.isActive }

    func agree(on protocolName: String?) {
        self.channel.pipeline.fireUserInboundEventTriggered(
            TLSUserEvent.handshakeCompleted(negotiatedProtocol: protocolName)
        )
        self.channel.embeddedEventLoop.run()
    }

    /// Does the handshake, up to and with the `welcome`.
    func welcome(limits: Limits, windowBytes: UInt32) throws {
        self.agree(on: "tidemark/1")
        try #require(try self.frames().map(\.kind) == [.hello])
        let welcome = Welcome(
            version: 1,
            server: "scripted",
            userRecordName: "_user",
            serverTimeMilliseconds: 1_700_000_000_000,
            limits: limits,
            windows: Windows(connectionBytes: windowBytes, streamBytes: 1024 * 1024)
        )
        try self.send(.welcome, welcome.encoded())
    }

    func send(_ kind: FrameKind, stream: UInt32 = 0, _ payload: ByteBuffer) throws {
        try self.send(Frame(kind: kind, stream: stream, payload: payload))
    }

    /// Sends frames that arrive in one read.
    func send(_ frames: Frame...) throws {
        var bytes = ByteBuffer()
        for frame in frames { FrameEncoder.write(frame, into: &bytes) }
        try self.send(bytes)
    }

    func send(_ bytes: ByteBuffer) throws {
        try self.channel.writeInbound(bytes)
        self.channel.embeddedEventLoop.run()
    }

    func items(_ items: [Item], on stream: UInt32) throws {
        try self.send(.items, stream: stream, Items(items: items).encoded())
    }

    func end(_ stream: UInt32, _ failure: Failure? = nil) throws {
        try self.send(.end, stream: stream, End(failure: failure).encoded())
    }

    func goAway(_ reason: CloseReason, retryAfterMilliseconds: UInt32 = 0) throws {
        let goAway = GoAway(reason: reason, message: "bye", retryAfterMilliseconds: retryAfterMilliseconds)
        try self.send(.goaway, goAway.encoded())
    }

    /// The socket takes no more, or takes bytes again.
    func socket(isWritable: Bool) {
        self.channel.isWritable = isWritable
        self.channel.pipeline.fireChannelWritabilityChanged()
        self.channel.embeddedEventLoop.run()
    }

    /// The network fails.
    func breakOff() {
        self.channel.close(promise: nil)
        self.channel.embeddedEventLoop.run()
    }

    /// The frames that came since the last call.
    func frames() throws -> [Frame] {
        try self.writes().flatMap { $0 }
    }

    /// The frames that came since the last call, by write.
    func writes() throws -> [[Frame]] {
        var writes: [[Frame]] = []
        let decoder = FrameDecoder(payloadBytesMax: .max)
        while var bytes = try self.channel.readOutbound(as: ByteBuffer.self) {
            var frames: [Frame] = []
            while let frame = try decoder.decode(buffer: &bytes) { frames.append(frame) }
            #expect(bytes.readableBytes == 0, "a write ends with a frame")
            writes.append(frames)
        }
        return writes
    }

    /// The requests that came since the last call; nothing else may have come.
    func requests() throws -> [(stream: UInt32, request: Request)] {
        try self.frames().map { frame in
            try #require(frame.kind == .request)
            return (frame.stream, try Request(decoding: frame.payload))
        }
    }
}
