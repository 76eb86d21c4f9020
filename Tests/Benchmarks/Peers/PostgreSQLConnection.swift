import NIOCore
import NIOPosix
import NIOSSL

/// A connection to PostgreSQL over TLS with one prepared statement, as a follower or as the writer.
///
///     client                                       server
///     SSLRequest                          ------>
///                                         <------  S
///     (TLS) startup                       ------>
///                                         <------  … ReadyForQuery
///     [ LISTEN followed ]  Parse  Sync    ------>
///                                         <------  … ReadyForQuery            ready
///                                         <------  NotificationResponse
///     Bind  Execute  Sync                 ------>
///                                         <------  DataRow …  ReadyForQuery
///
/// A notification that comes during a query leads to one more.
///
/// - Source: PostgreSQL 15, *Frontend/Backend Protocol*.
final class PostgreSQLConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    enum Role {
        /// Queries with the position of the last row that it has.
        case follower(statement: String, after: Int64)
        case writer(statement: String)
    }

    private static let rowsPerPage = 200

    private let tls: NIOSSLContext
    private let role: Role
    private let ready: EventLoopPromise<Void>
    /// The numbers in the names of rows that came, or why no more will.
    private let received: @Sendable (Result<[Int], PeerFault>) -> Void
    private var held = ByteBuffer()
    private var isEncrypted = false
    /// How often the server has yet to say that it is ready, before this connection is.
    private var stepsLeft: Int
    private var position: Int64
    private var isFetching = false
    private var isBehind = false
    private var numbers: [Int] = []

    private init(
        _ tls: NIOSSLContext,
        _ role: Role,
        ready: EventLoopPromise<Void>,
        received: @escaping @Sendable (Result<[Int], PeerFault>) -> Void
    ) {
        self.tls = tls
        self.role = role
        self.ready = ready
        self.received = received
        switch role {
        case .follower(_, let position): (self.position, self.stepsLeft) = (position, 3)
        case .writer: (self.position, self.stepsLeft) = (0, 2)
        }
    }

    /// Connects, and returns when the statement is prepared.
    static func connect(
        _ port: Int,
        _ tls: NIOSSLContext,
        _ role: Role,
        received: @escaping @Sendable (Result<[Int], PeerFault>) -> Void
    ) async throws -> any Channel {
        let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
        let ready = eventLoop.makePromise(of: Void.self)
        let channel = try await ClientBootstrap(group: eventLoop)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        PostgreSQLConnection(tls, role, ready: ready, received: received)
                    )
                }
            }
            .connect(host: "127.0.0.1", port: port)
            .get()
        try await ready.futureResult.get()
        return channel
    }

    // MARK: Messages to the server

    /// The execution of the writer's statement, for a row of 500 bytes.
    static func save(_ number: Int) -> ByteBuffer {
        let digits = String(number)
        let name = "r" + String(repeating: "0", count: 35 - digits.count) + digits
        return self.execution([ByteBuffer(string: name), ByteBuffer(repeating: 0x78, count: 500)])
    }

    /// Binds binary parameters, executes and ends the transaction.
    private static func execution(_ parameters: [ByteBuffer]) -> ByteBuffer {
        var buffer = ByteBuffer()
        self.append("B", to: &buffer) { body in
            body.writeString("\0statement\0")
            // All parameters and columns are binary.
            body.writeMultipleIntegers(Int16(1), Int16(1), Int16(parameters.count))
            for parameter in parameters {
                body.writeInteger(Int32(parameter.readableBytes))
                body.writeImmutableBuffer(parameter)
            }
            body.writeMultipleIntegers(Int16(1), Int16(1))
        }
        self.append("E", to: &buffer) { body in
            body.writeString("\0")
            body.writeInteger(Int32(0))
        }
        self.append("S", to: &buffer) { _ in }
        return buffer
    }

    private static func append(
        _ kind: Unicode.Scalar,
        to buffer: inout ByteBuffer,
        _ write: (inout ByteBuffer) -> Void
    ) {
        var body = ByteBuffer()
        write(&body)
        buffer.writeInteger(UInt8(ascii: kind))
        buffer.writeInteger(Int32(body.readableBytes + 4))
        buffer.writeBuffer(&body)
    }

    private func prepare(_ context: ChannelHandlerContext) {
        var buffer = ByteBuffer()
        let statement: String
        switch self.role {
        case .follower(let page, _):
            statement = page
            Self.append("Q", to: &buffer) { $0.writeString("LISTEN followed\0") }
        case .writer(let save): statement = save
        }
        Self.append("P", to: &buffer) { body in
            body.writeString("statement\0\(statement)\0")
            body.writeInteger(Int16(0))
        }
        Self.append("S", to: &buffer) { _ in }
        context.writeAndFlush(NIOAny(buffer), promise: nil)
    }

    private func fetch(_ context: ChannelHandlerContext) {
        self.isFetching = true
        self.isBehind = false
        context.writeAndFlush(NIOAny(Self.execution([ByteBuffer(integer: self.position)])), promise: nil)
    }

    // MARK: Messages from the server

    func channelActive(context: ChannelHandlerContext) {
        var request = ByteBuffer()
        request.writeMultipleIntegers(Int32(8), Int32(80_877_103))
        context.writeAndFlush(NIOAny(request), promise: nil)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = self.unwrapInboundIn(data)
        guard self.isEncrypted else { return self.encrypt(context) }
        if self.held.readableBytes == 0 { self.held = bytes } else { self.held.writeBuffer(&bytes) }
        while self.held.readableBytes >= 5,
            let length = self.held.getInteger(at: self.held.readerIndex + 1, as: Int32.self),
            self.held.readableBytes > Int(length),
            let kind = self.held.readInteger(as: UInt8.self),
            var body = self.held.readSlice(length: Int(length))
        {
            body.moveReaderIndex(forwardBy: 4)
            self.received(kind, &body, context)
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
        var startup = ByteBuffer()
        startup.writeInteger(Int32(196_608))
        startup.writeString("user\0postgres\0database\0postgres\0\0")
        var buffer = ByteBuffer(integer: Int32(startup.readableBytes + 4))
        buffer.writeBuffer(&startup)
        context.writeAndFlush(NIOAny(buffer), promise: nil)
    }

    private func received(_ kind: UInt8, _ body: inout ByteBuffer, _ context: ChannelHandlerContext) {
        switch kind {
        case UInt8(ascii: "D"): self.take(&body)
        case UInt8(ascii: "A"): if self.isFetching { self.isBehind = true } else { self.fetch(context) }
        case UInt8(ascii: "E"): self.end(.refused(String(buffer: body)), context)
        case UInt8(ascii: "Z"): self.serverIsReady(context)
        default: break
        }
    }

    /// Takes a row of the follower's; the writer's have no name.
    private func take(_ body: inout ByteBuffer) {
        guard case .follower = self.role, body.readInteger(as: Int16.self) == 6,
            let length = body.readInteger(as: Int32.self), let name = body.readString(length: Int(length)),
            body.readInteger(as: Int32.self) == 8, let position = body.readInteger(as: Int64.self)
        else { return }
        self.position = position
        if let number = Int(name.suffix(8)) { self.numbers.append(number) }
    }

    private func serverIsReady(_ context: ChannelHandlerContext) {
        if self.stepsLeft > 0 {
            self.stepsLeft -= 1
            switch self.role {
            case .follower where self.stepsLeft == 2: self.prepare(context)
            case .writer where self.stepsLeft == 1: self.prepare(context)
            case .follower, .writer: break
            }
            if self.stepsLeft == 0 { self.ready.succeed(()) }
            return
        }
        guard self.isFetching else { return }
        let isFull = self.numbers.count == Self.rowsPerPage
        if !self.numbers.isEmpty { self.received(.success(self.numbers)) }
        self.numbers.removeAll(keepingCapacity: true)
        self.isFetching = false
        if isFull || self.isBehind { self.fetch(context) }
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
