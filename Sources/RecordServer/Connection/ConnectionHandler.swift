import Logging
import NIOCore
import RecordModel
import RecordStore
import Transport
import WireProtocol

/// Connects bytes, the machine that decides, and the engine.
///
/// Lives on its event loop: no lock, no task, no await.
///
/// What it does with requests and answers is in the extensions beside it; here are the channel's events and the frames.
final class ConnectionHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    let server: ServerContext
    let loop: LoopContext
    let eventLoop: any EventLoop
    /// From 1, never used again while the server runs: what changes are known by that this connection makes.
    let number: UInt64
    var machine: ConnectionStateMachine
    /// `nil` when the connection has ended, or is ending: nothing is written and nothing heard any more.
    var context: ChannelHandlerContext?
    var user: ConnectionUser?
    /// What waits for the answer to a challenge.
    var challenged: ChallengedHello?
    /// Of the address at first, of the user from the welcome on.
    var account: Account
    /// Of the peer's address: who pays while nobody is signed in.
    let network: String
    /// There was no room for the connection: it is told so, and that is all.
    private let isRefused: Bool
    /// SHA-256 of the certificate that the server shows.
    let certificateHash: [UInt8]
    /// `nil`: nobody is signed in, or not yet.
    var credential: Credential?
    /// `nil`: until something is taken away.
    var expiresMilliseconds: Int64?
    var listener = ListenerStateMachine()
    /// Notifications of this tick, before it is decided which of them go out.
    var arrived: [OutgoingNotification] = []

    var answers = StreamTable<Answer>()
    /// `nil`: no upload or download was asked for.
    var transfers: Transfers?
    /// Until then requests that are no transfers are thought to travel beside those that are.
    var busyUntil = NIODeadline.uptimeNanoseconds(0)
    /// Streams whose request waits until answers that are held make room, in order of arrival.
    var waiting: [UInt32] = []
    /// Streams whose outcomes wait for credit or for the socket.
    var blocked: [UInt32] = []
    /// Answers held, and room set aside for those that the engine is reading.
    var heldBytes = 0
    /// What the socket has not taken, as far as it is in the account.
    var socketBytes = 0
    var isExecutingWaiting = false
    var isCheckingSchema = false

    /// Frames of this tick, flushed together.
    var outbound = ByteBuffer()
    var handshakeTimer: Scheduled<Void>?
    var keepaliveTimer: Scheduled<Void>?
    /// While the socket takes nothing.
    var socketTimer: Scheduled<Void>?
    /// While answers wait.
    var creditTimer: Scheduled<Void>?
    /// While a frame is incomplete, and at times a little longer.
    var frameTimer: Scheduled<Void>?
    var keepalive: KeepaliveStateMachine

    let frames: FrameAssembly
    /// Of whoever is signed in; `nil` before the welcome.
    var loopAccount: LoopAccount?
    /// Until when the connection's work is paid for; `nil` while it does nothing.
    var paidUntil: NIODeadline?
    /// Of the event loop's rounds, the one in which the connection was read last.
    private var lastRound: UInt64 = 0
    /// Frames wait for a turn of their holder.
    var isWaitingForTurn = false
    var unfinished = UnfinishedFrame()
    /// What requests of this connection may have.
    private(set) var bounds: Bounds
    private var isTLSUp = false
    var isReadHeldBack = false

    init(
        server: ServerContext,
        loop: LoopContext,
        eventLoop: any EventLoop,
        account: Account,
        network: String,
        isRefused: Bool,
        certificateHash: [UInt8]
    ) {
        self.server = server
        self.account = account
        self.network = network
        self.isRefused = isRefused
        self.certificateHash = certificateHash
        self.loop = loop
        self.eventLoop = eventLoop
        self.frames = FrameAssembly(buffers: server.assetBuffers)
        self.bounds = server.configuration.bounds
        self.number = server.takeConnectionNumber()
        self.machine = ConnectionStateMachine(bounds: server.configuration.connectionBounds)
        self.keepalive = KeepaliveStateMachine(
            silenceMax: TimeAmount(server.configuration.timeouts.idle),
            now: eventLoop.now
        )
    }

    /// The limits after the handshake: those who are not signed in have small requests.
    func raiseFrameLimit(isStranger: Bool) {
        if isStranger {
            self.bounds.requestBytesMax = min(self.bounds.requestBytesMax, Bounds.strangerRequestBytesMax)
            let frameBytesMax = self.bounds.requestBytesMax + Bounds.requestFramingBytesMax
            self.frames.payloadBytesMax = min(self.bounds.frameBytesMax, frameBytesMax)
        } else {
            self.frames.payloadBytesMax = self.bounds.frameBytesMax
        }
    }

    // MARK: - The channel's events

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        self.loop.opened(self)
        self.startHandshakeTimer()
    }

    func channelInactive(context: ChannelHandlerContext) {
        _ = self.machine.connectionEnded()
        self.context = nil
        self.forgetEverything()
        self.loop.closed(self)
        if let loopAccount { self.loop.turns.left(loopAccount) }
        let open = self.server.accounts.closed(self.account, wasRefused: self.isRefused)
        self.server.metrics.connectionClosed(now: open)
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let name = TLSSetup.negotiatedProtocol(event) {
            self.isTLSUp = name == ProtocolVersion.alpn
            if !self.isTLSUp { self.breakOff("TLS client without the application protocol") }
            if self.isRefused { self.close(.overloaded, isLogged: true) }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if self.isTLSUp {
            self.breakOff("connection failed", error: error, level: .debug)
        } else {
            self.breakOff("TLS handshake failed", error: error)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard self.context != nil else { return }
        let now = self.eventLoop.now
        self.keepalive.heard(at: now)
        if let loopAccount, self.paidUntil == nil {
            self.lastRound = self.loop.turns.reads(in: self.lastRound, of: loopAccount)
        }
        self.paidUntil = now
        self.received(self.unwrapInboundIn(data))
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        self.flush()
        self.finishWork()
        context.fireChannelReadComplete()
    }

    /// Reads no more from a peer that does not take what it is sent, or whose holder has had a turn.
    func read(context: ChannelHandlerContext) {
        guard self.mayRead(context) else {
            self.isReadHeldBack = true
            return
        }
        context.read()
    }

    private func mayRead(_ context: ChannelHandlerContext) -> Bool {
        self.context == nil || (context.channel.isWritable && !self.isWaitingForTurn)
    }

    /// Reads if that was held back and need be no longer.
    func readHeldBack(_ context: ChannelHandlerContext) {
        guard self.isReadHeldBack, self.mayRead(context) else { return }
        self.isReadHeldBack = false
        context.read()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        self.countSocket(isFull: !context.channel.isWritable)
        if context.channel.isWritable {
            self.socketOpened()
            self.resumeBlocked()
            self.sendWaiting()
            self.sendDownloads()
            self.flush()
            self.readHeldBack(context)
        } else {
            self.startSocketTimer()
        }
        context.fireChannelWritabilityChanged()
    }

    // MARK: - Frames

    func frameReceived(_ frame: Frame) {
        guard self.context != nil else { return }
        do throws(WireError) {
            try self.dispatch(frame)
        } catch {
            self.close(error.closeReason, detail: error.field)
        }
    }

    private func dispatch(_ frame: Frame) throws(WireError) {
        switch frame.kind {
        case .request:
            self.requestReceived(frame)
        case .credit:
            let credit = try Credit(decoding: frame.payload)
            self.creditReceived(credit, on: frame.stream)
        case .cancel:
            _ = try Cancel(decoding: frame.payload)
            self.cancelReceived(frame.stream)
        case .assetData:
            let data = try AssetData(decoding: frame.payload)
            self.assetDataReceived(data, on: frame.stream)
        case .hello, .proof, .ping, .pong, .goaway, .notificationAck:
            guard frame.stream == 0 else { return self.close(.streamInvalid) }
            try self.dispatchConnectionFrame(frame)
        default:
            // Kinds from 128 on are for later versions, and harmless to those who do not know them.
            guard frame.kind.rawValue >= 128 else { return self.close(.frameKindUnexpected) }
            self.controlFrameReceived {}
        }
    }

    private func dispatchConnectionFrame(_ frame: Frame) throws(WireError) {
        switch frame.kind {
        case .hello:
            self.helloReceived(try Hello(decoding: frame.payload))
        case .proof:
            self.proofReceived(try Proof(decoding: frame.payload))
        case .ping:
            let ping = try Ping(decoding: frame.payload)
            self.controlFrameReceived { self.write(Frame(kind: .pong, payload: ping.encoded())) }
        case .notificationAck:
            self.acknowledgementReceived(try NotificationAck(decoding: frame.payload))
        case .goaway:
            let goaway = try GoAway(decoding: frame.payload)
            if self.machine.goAwayReceived(goaway.reason) == .close { self.closeQuietly() }
        default:
            // A pong: that something was heard is all it says.
            _ = try Ping(decoding: frame.payload)
            if !self.keepalive.pongReceived() { self.controlFrameReceived {} }
        }
    }

    private func controlFrameReceived(_ answer: () -> Void) {
        switch self.machine.controlFrameReceived(now: self.eventLoop.now) {
        case .accept: answer()
        case .close(let reason): self.close(reason)
        case .ignore: break
        }
    }

    private func cancelReceived(_ stream: UInt32) {
        switch self.machine.cancelReceived(stream, now: self.eventLoop.now) {
        case .cancel: self.cancel(stream)
        case .close(let reason): self.close(reason)
        case .ignore: break
        }
    }

    private func creditReceived(_ credit: Credit, on stream: UInt32) {
        switch self.machine.creditReceived(stream, bytes: credit.bytes, now: self.eventLoop.now) {
        case .resume:
            self.resumeBlocked()
            self.sendDownloads()
        case .close(let reason): self.close(reason)
        case .ignore: break
        }
    }
}
