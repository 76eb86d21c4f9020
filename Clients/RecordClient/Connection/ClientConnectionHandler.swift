import NIOCore
import NIOTLS
import RecordModel
import Transport
import WireProtocol

/// One connection: turns bytes into events of its state machine, and actions of the machine into
/// bytes.
///
/// All frames of one tick of the event loop leave in one piece.
final class ClientConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// A larger buffer is not kept for what is written next.
    private static let keptBytesMax = 16 * 1024

    let number: Int
    /// Whether it has responded to a request other than `listen`.
    var hasAnswered = false
    /// Whether this side wants no more of it.
    private(set) var isRetired = false
    private let hello: Hello
    /// The key of a service; `nil` if the hello names the client.
    private let key: SigningKey?
    private let frames: FrameAssembly
    var machine: ClientStateMachine
    private var keepalive: KeepaliveStateMachine?
    /// The owner; let go when the connection has ended, so that neither keeps the other.
    private(set) var session: ClientSession?
    private var context: ChannelHandlerContext?
    private var outgoing = ByteBuffer()
    private var hasFinished = false
    /// The response to the last ping, under backpressure; earlier pings get none.
    private var pong: ByteBuffer?

    init(number: Int, hello: Hello, key: SigningKey?, session: ClientSession) {
        self.number = number
        self.hello = hello
        self.key = key
        self.frames = FrameAssembly(
            payloadBytesMax: ClientBounds.handshakeFrameBytesMax,
            buffers: session.transfers.buffers
        )
        self.machine = ClientStateMachine(windows: hello.windows, expectsChallenge: key != nil)
        self.session = session
    }

    func requestReady() -> ClientSide.Admission {
        self.machine.requestReady()
    }

    /// Writes a request on a stream that was just admitted.
    ///
    /// - Returns: When to check the server's silence, if nothing else was in flight.
    func send(
        _ payload: ByteBuffer,
        on stream: UInt32,
        transfer: TransferStream? = nil,
        now: NIODeadline
    ) -> NIODeadline? {
        let wasQuiet = !self.machine.awaitsServer
        self.machine.requestSent(
            stream: stream,
            payloadBytes: payload.readableBytes,
            transfer: transfer
        )
        self.write(.request, stream: stream, payload)
        guard wasQuiet else { return nil }
        self.keepalive?.received(at: now)
        return self.checkSilence(now: now)
    }

    func cancel(stream: UInt32) {
        switch self.machine.cancelled(stream: stream) {
        case .sendCancel: self.write(.cancel, stream: stream, Cancel().encoded())
        case .ignore: break
        }
    }

    /// The request that was just sent on the stream is `listen`.
    func listenSent(on stream: UInt32) {
        self.machine.listenSent(stream: stream)
    }

    /// Acknowledges notifications, with the next flush.
    func acknowledge(upTo number: UInt64) {
        self.machine.notificationsTaken(upTo: number)
    }

    /// Pings a server that is silent while something of it is awaited, or gives it up.
    ///
    /// - Returns: When to look again.
    func checkSilence(now: NIODeadline) -> NIODeadline? {
        guard self.machine.awaitsServer else { return nil }
        switch self.keepalive?.timerFired(at: now) {
        case .wait(let deadline): return deadline
        case .ping(let deadline):
            self.write(.ping, stream: 0, Ping(value: now.uptimeNanoseconds).encoded())
            return deadline
        case .close:
            self.close(.broken("the server has stopped answering"))
            return nil
        case nil: return nil
        }
    }

    /// Sends what was written since the last call.
    func flush() {
        self.writeAcknowledgement()
        guard let context, self.outgoing.readableBytes > 0 else { return }
        var bytes = self.outgoing
        self.outgoing = ByteBuffer()
        context.writeAndFlush(self.wrapOutboundOut(bytes), promise: nil)
        guard bytes.capacity <= Self.keptBytesMax, self.outgoing.capacity == 0 else { return }
        // Bytes that the channel still holds are not touched: clearing copies on write.
        bytes.clear()
        self.outgoing = bytes
    }

    /// Whether the socket takes more without letting it pile up.
    var isWritable: Bool { self.context?.channel.isWritable ?? false }

    /// Sends a frame behind all that was written before, without copying it.
    func writeNow(_ frame: ByteBuffer) {
        self.flush()
        self.context?.writeAndFlush(self.wrapOutboundOut(frame), promise: nil)
    }

    /// Opens no more streams, and closes when those that are open have ended.
    func retire() {
        self.isRetired = true
        self.writeAcknowledgement()
        self.goAwayReceived(GoAway(reason: .drain, message: ""))
    }

    func close(_ cause: ConnectionEnd) {
        self.writeAcknowledgement()
        guard self.machine.connectionEnded() else { return }
        self.finish(cause)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted(let negotiated)? = event as? TLSUserEvent {
            self.handshakeCompleted(negotiatedProtocol: negotiated)
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !self.hasFinished else { return }
        self.keepalive?.received(at: context.eventLoop.now)
        let piece = self.unwrapInboundIn(data)
        if let session {
            session.attending { self.received(piece) }
        } else {
            self.received(piece)
        }
    }

    private func received(_ piece: ByteBuffer) {
        do {
            try self.frames.received(piece) { frame in
                try self.frameReceived(frame)
            }
        } catch let violation as Violation {
            self.violated(violation)
        } catch let error as WireError {
            self.violated(Violation(error))
        } catch {
            self.close(.broken("\(error)"))
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        self.session?.readCompleted()
        self.flush()
        context.fireChannelReadComplete()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            self.writePong()
            self.flush()
            self.session?.transfers.sendPieces()
        }
        context.fireChannelWritabilityChanged()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.close(ConnectionEnd(error))
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.close(.broken("the server closed the connection"))
        self.channelClosed()
        context.fireChannelInactive()
    }

    /// The channel is closed, or was never open.
    func channelClosed() {
        self.session?.connectionClosed(self)
        self.session = nil
    }
}

extension ClientConnectionHandler {
    private func handshakeCompleted(negotiatedProtocol: String?) {
        guard negotiatedProtocol == ProtocolVersion.alpn else {
            self.close(
                .misconfigured("it does not speak \(ProtocolVersion.alpn): is the port a Tidemark server's?")
            )
            return
        }
        switch self.machine.connected() {
        case .sendHello:
            self.write(.hello, stream: 0, self.hello.encoded())
            self.flush()
        case .ignore: break
        }
    }

    private func frameReceived(_ frame: Frame) throws {
        switch frame.kind {
        case .items: try self.itemsReceived(frame)
        case .end: try self.endReceived(frame)
        case .credit: try self.creditReceived(frame)
        case .assetData: try self.assetDataReceived(frame)
        case .progress: try self.progressReceived(frame)
        case .assetOffsets: try self.assetOffsetsReceived(frame)
        case .ping:
            _ = try Ping(decoding: frame.payload)
            self.pong = frame.payload
            self.writePong()
        case .pong: _ = try Ping(decoding: frame.payload)
        case .notification: try self.notificationReceived(Notification(decoding: frame.payload))
        case .welcome: try self.welcomeReceived(Welcome(decoding: frame.payload))
        case .challenge: self.challengeReceived(try Challenge(decoding: frame.payload))
        case .goaway: self.goAwayReceived(try GoAway(decoding: frame.payload))
        case .hello, .proof, .request, .cancel: throw Violation.frameUnexpected
        // Kinds from 128 on are ignored by those who do not know them.
        default: guard frame.kind.rawValue >= 128 else { throw Violation.frameUnexpected }
        }
    }

    /// Signs for this connection alone: the server's key in TLS is part of it.
    private func challengeReceived(_ challenge: Challenge) {
        switch self.machine.challengeReceived() {
        case .prove: break
        case .close(let violation): return self.violated(violation)
        case .ignore: return
        }
        guard let context, let key, let name = self.hello.serviceKey,
            let certificate = TLSConnector.serverCertificate(of: context.pipeline),
            let proof = try? key.proof(
                nonce: challenge.nonce,
                certificate: certificate,
                hello: self.hello,
                name: name
            )
        else { return self.close(.misconfigured("the service's key cannot sign")) }
        self.write(.proof, stream: 0, proof.encoded())
    }

    private func welcomeReceived(_ welcome: Welcome) throws {
        var welcome = welcome
        welcome.limits = welcome.limits.boundedForClient
        switch self.machine.welcomeReceived(welcome) {
        case .announce:
            guard let context else { return }
            self.frames.payloadBytesMax = Int(welcome.limits.frameBytesMax)
            self.keepalive = KeepaliveStateMachine(limits: welcome.limits, now: context.eventLoop.now)
            self.session?.connectionOpened(self, welcome: welcome)
        case .close(let violation): self.violated(violation)
        case .ignore: break
        }
    }

    private func goAwayReceived(_ goAway: GoAway) {
        switch self.machine.goAwayReceived(goAway.reason) {
        case .drain: self.session?.connectionDrains(self, goAway: goAway)
        case .close: self.finish(.goneAway(goAway))
        case .ignore: break
        }
    }

    private func itemsReceived(_ frame: Frame) throws {
        let payloadBytes = frame.payload.readableBytes
        switch self.machine.itemsReceived(stream: frame.stream, payloadBytes: payloadBytes) {
        case .deliver:
            self.hasAnswered = true
            let items = try Items(decoding: frame.payload).items
            try self.session?.itemsReceived(items, payloadBytes: payloadBytes, on: self.key(frame.stream))
            let grants = self.machine.itemsConsumed(stream: frame.stream, payloadBytes: payloadBytes)
            self.grant(grants.connectionBytes, on: 0)
            self.grant(grants.streamBytes, on: frame.stream)
        case .close(let violation): self.violated(violation)
        case .ignore: break
        }
    }

    private func endReceived(_ frame: Frame) throws {
        let end = try End(decoding: frame.payload)
        let isDraining = self.machine.isDraining
        let isListen = self.machine.isListen(frame.stream)
        if isListen { self.machine.listenAnswered(isAccepted: end.failure == nil) }
        switch self.machine.endReceived(stream: frame.stream, isFailure: end.failure != nil) {
        case .finish:
            if !isListen { self.hasAnswered = true }
            self.session?.streamEnded(end, on: self.key(frame.stream), isDraining: isDraining)
        case .finishAndClose:
            self.session?.streamEnded(end, on: self.key(frame.stream), isDraining: isDraining)
            self.finish(.drained)
        case .close(let violation): self.violated(violation)
        case .ignore: break
        }
    }

    private func notificationReceived(_ notification: Notification) {
        switch self.machine.notificationReceived(notification.number) {
        case .deliver: self.session?.notificationReceived(notification, on: self.number)
        case .close(let violation): self.violated(violation)
        case .ignore: break
        }
    }

    private func creditReceived(_ frame: Frame) throws {
        let credit = try Credit(decoding: frame.payload)
        switch self.machine.creditReceived(stream: frame.stream, bytes: credit.bytes) {
        // Waiting requests are sent when the bytes that have come are read.
        case .resume: if frame.stream != 0 { self.session?.noteActivity(on: self.key(frame.stream)) }
        case .close(let violation): self.violated(violation)
        case .ignore: break
        }
    }

    /// Tells the server what it did wrong, and closes.
    private func violated(_ violation: Violation) {
        _ = self.machine.connectionEnded()
        let goAway = GoAway(reason: violation.reason, message: violation.error.field)
        self.write(.goaway, stream: 0, goAway.encoded())
        self.finish(.violated(violation.error))
    }

    /// Closes the channel of a connection with a closed machine.
    private func finish(_ cause: ConnectionEnd) {
        guard !self.hasFinished else { return }
        self.hasFinished = true
        self.flush()
        self.session?.connectionEnded(self, cause: cause)
        self.context?.close(promise: nil)
    }

    func grant(_ bytes: UInt32, on stream: UInt32) {
        guard bytes > 0 else { return }
        self.write(.credit, stream: stream, Credit(bytes: bytes).encoded())
    }

    private func writePong() {
        guard self.isWritable, let pong = self.pong.take() else { return }
        self.write(.pong, stream: 0, pong)
    }

    private func writeAcknowledgement() {
        guard let number = self.machine.acknowledgementDue() else { return }
        self.write(.notificationAck, stream: 0, NotificationAck(number: number).encoded())
    }

    private func write(_ kind: FrameKind, stream: UInt32, _ payload: ByteBuffer) {
        FrameEncoder.write(Frame(kind: kind, stream: stream, payload: payload), into: &self.outgoing)
    }

    func key(_ stream: UInt32) -> StreamKey {
        StreamKey(connection: self.number, stream: stream)
    }
}

extension KeepaliveStateMachine {
    /// Watches a server: the silence allowed is two thirds of what the server allows, so that this
    /// side is the first to ask.
    init(limits: Limits, now: NIODeadline) {
        let idleTimeout = TimeAmount.milliseconds(Int64(limits.idleTimeoutMilliseconds))
        self.init(silenceMax: .nanoseconds(idleTimeout.nanoseconds / 3 * 2), now: now)
    }
}
