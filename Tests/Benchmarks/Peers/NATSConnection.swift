import NIOCore
import NIOPosix
import NIOSSL

/// A connection to a nats-server, which begins to speak TLS behind the server's first line.
///
///     server                         client
///     INFO {…}              ------>
///                           <------  (TLS) CONNECT {…}  [ SUB bench 1 ]  PING
///     PONG                  ------>                                            ready
///     MSG bench 1 size      ------>
///     size bytes
final class NATSConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    struct Message {
        var bytes: Int
        /// The number at its beginning.
        var number: UInt64
    }

    private static let lineBytesMax = 65_536

    private let tls: NIOSSLContext
    private let subscribes: Bool
    private let ready: EventLoopPromise<Void>
    /// Each message that came, or why no more will.
    private let received: @Sendable (Result<Message, PeerFault>) -> Void
    private var held = ByteBuffer()
    private var isEncrypted = false

    private init(
        _ tls: NIOSSLContext,
        subscribes: Bool,
        ready: EventLoopPromise<Void>,
        received: @escaping @Sendable (Result<Message, PeerFault>) -> Void
    ) {
        self.tls = tls
        self.subscribes = subscribes
        self.ready = ready
        self.received = received
    }

    /// Connects, and returns when the server has answered to all that was asked.
    static func connect(
        _ port: Int,
        _ tls: NIOSSLContext,
        subscribes: Bool,
        received: @escaping @Sendable (Result<Message, PeerFault>) -> Void
    ) async throws -> any Channel {
        let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
        let ready = eventLoop.makePromise(of: Void.self)
        let channel = try await ClientBootstrap(group: eventLoop)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        NATSConnection(tls, subscribes: subscribes, ready: ready, received: received)
                    )
                }
            }
            .connect(host: "127.0.0.1", port: port)
            .get()
        try await ready.futureResult.get()
        return channel
    }

    /// A message of at least eight bytes, with a number at its beginning.
    static func publication(of bytes: Int, number: UInt64 = 0) -> ByteBuffer {
        var buffer = ByteBuffer(string: "PUB bench \(bytes)\r\n")
        buffer.writeInteger(number)
        buffer.writeRepeatingByte(0x5A, count: bytes - 8)
        buffer.writeString("\r\n")
        return buffer
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = self.unwrapInboundIn(data)
        if self.held.readableBytes == 0 { self.held = bytes } else { self.held.writeBuffer(&bytes) }
        while self.takeNext(context) {}
        if self.held.readableBytes > Self.lineBytesMax { context.close(promise: nil) }
    }

    /// Takes a line, and the message that it announces; `false`: not all of it has come.
    private func takeNext(_ context: ChannelHandlerContext) -> Bool {
        let view = self.held.readableBytesView
        guard let end = view.firstIndex(of: UInt8(ascii: "\n")), let first = view.first else { return false }
        let lineBytes = end - view.startIndex + 1
        let isMessage = first == UInt8(ascii: "M")
        if isMessage {
            // The size stands at the end of the line, in front of CR and LF.
            var size = 0
            var factor = 1
            for byte in view[..<(end - 1)].reversed() {
                guard byte != UInt8(ascii: " ") else { break }
                size += Int(byte &- UInt8(ascii: "0")) * factor
                factor *= 10
            }
            guard self.held.readableBytes >= lineBytes + size + 2 else { return false }
            let number = self.held.getInteger(at: self.held.readerIndex + lineBytes, as: UInt64.self) ?? 0
            self.held.moveReaderIndex(forwardBy: lineBytes + size + 2)
            self.received(.success(Message(bytes: size, number: number)))
        } else {
            self.received(line: self.held.readString(length: lineBytes) ?? "", context)
        }
        return true
    }

    private func received(line: String, _ context: ChannelHandlerContext) {
        if line.hasPrefix("INFO"), !self.isEncrypted {
            self.encrypt(context)
        } else if line.hasPrefix("PING") {
            context.writeAndFlush(NIOAny(ByteBuffer(string: "PONG\r\n")), promise: nil)
        } else if line.hasPrefix("PONG") {
            self.ready.succeed(())
        } else if line.hasPrefix("-ERR") {
            self.end(.refused(line), context)
        }
    }

    private func encrypt(_ context: ChannelHandlerContext) {
        self.isEncrypted = true
        do {
            let handler = try NIOSSLClientHandler(context: self.tls, serverHostname: nil)
            try context.pipeline.syncOperations.addHandler(handler, position: .first)
        } catch {
            return self.end(.refused("\(error)"), context)
        }
        let connect =
            #"CONNECT {"verbose":false,"pedantic":false,"tls_required":true,"lang":"swift"}"# + "\r\n"
        let subscribe = self.subscribes ? "SUB bench 1\r\n" : ""
        context.writeAndFlush(NIOAny(ByteBuffer(string: connect + subscribe + "PING\r\n")), promise: nil)
    }

    private func end(_ fault: PeerFault, _ context: ChannelHandlerContext) {
        self.ready.fail(fault)
        self.received(.failure(fault))
        context.close(promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.end(.refused("\(error)"), context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.end(.closed, context)
        context.fireChannelInactive()
    }
}
