import Logging
import NIOCore
import Transport
import WireProtocol

/// The channel handler of a connection: passes events to the state machine and performs its
/// actions.
///
/// Runs on its event loop: no lock, no task, no await. Longer work belongs to a part: `Connection`
/// writes and ends, `ConnectionHandshake` signs a client in, `ConnectionRequests` executes,
/// `ConnectionResponses` answers, `ConnectionCredential` watches the credential.
final class ConnectionHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    let connection: Connection
    let server: ServerContext
    let responses: ConnectionResponses
    /// `nil` after sign-in, and when the connection has ended.
    var handshake: ConnectionHandshake?
    /// `nil` before the welcome.
    var requests: ConnectionRequests?
    /// `nil` before the welcome.
    var credential: ConnectionCredential?
    var keepalive: KeepaliveStateMachine
    var keepaliveTimer: Scheduled<Void>?

    let frames: FrameAssembly
    var unfinished: UnfinishedFrame
    /// Runs while a frame is incomplete, and at times a little longer.
    var frameTimer: Scheduled<Void>?
    var time = LoopTime()
    /// Frames wait for a turn of their holder.
    var isWaitingForTurn = false
    private var isReadHeldBack = false
    private var isTLSUp = false
    private let isRefused: Bool

    init(
        _ arrival: Connection.Arrival,
        server: ServerContext,
        loop: LoopContext,
        eventLoop: any EventLoop
    ) {
        self.server = server
        self.connection = Connection(
            arrival,
            shared: server.connections,
            loop: loop,
            eventLoop: eventLoop
        )
        self.isRefused = arrival.isRefused
        self.responses = ConnectionResponses(self.connection)
        self.frames = FrameAssembly(buffers: server.assetBuffers)
        let timeouts = server.configuration.timeouts
        self.unfinished = UnfinishedFrame(timeout: TimeAmount(timeouts.frame))
        self.keepalive = KeepaliveStateMachine(silenceMax: TimeAmount(timeouts.idle), now: eventLoop.now)
        self.handshake = ConnectionHandshake(
            self.connection,
            server: server,
            certificateHash: arrival.certificateHash
        ) { self.letIn($0) }
        self.connection.ended = { self.ended() }
    }

    // MARK: - The channel's events

    func handlerAdded(context: ChannelHandlerContext) {
        self.connection.opened(in: context)
        self.connection.loop.opened(self)
        self.handshake?.startTimer()
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.connection.channelClosed()
        let loop = self.connection.loop
        loop.closed(self)
        if let account = self.time.account { loop.turns.left(account) }
        let open = self.server.accounts.closed(self.connection.account, wasRefused: self.isRefused)
        self.server.metrics.connectionClosed(now: open)
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let name = TLSSetup.negotiatedProtocol(event) {
            self.isTLSUp = name == ProtocolVersion.alpn
            if !self.isTLSUp { self.connection.breakOff("TLS client without the application protocol") }
            if self.isRefused { self.connection.close(.overloaded, isLogged: true) }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if self.isTLSUp {
            self.connection.breakOff("connection failed", error: error, level: .debug)
        } else {
            self.connection.breakOff("TLS handshake failed", error: error)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard self.connection.isOpen else { return }
        let now = self.connection.eventLoop.now
        self.keepalive.received(at: now)
        self.time.readBegan(at: now, in: self.connection.loop.turns)
        self.received(self.unwrapInboundIn(data))
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        self.connection.flush()
        self.time.workEnded(at: self.connection.eventLoop.now)
        context.fireChannelReadComplete()
    }

    /// Stops reading if the peer does not take its output, or if its holder has used its turn.
    func read(context: ChannelHandlerContext) {
        guard self.mayRead(context) else {
            self.isReadHeldBack = true
            return
        }
        context.read()
    }

    private func mayRead(_ context: ChannelHandlerContext) -> Bool {
        !self.connection.isOpen || (context.channel.isWritable && !self.isWaitingForTurn)
    }

    /// Reads if a read was held back and may go on.
    func readHeldBack(_ context: ChannelHandlerContext) {
        guard self.isReadHeldBack, self.mayRead(context) else { return }
        self.isReadHeldBack = false
        context.read()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if self.connection.isOpen { self.socketChanged(isWritable: context.channel.isWritable) }
        self.readHeldBack(context)
        context.fireChannelWritabilityChanged()
    }

    private func socketChanged(isWritable: Bool) {
        self.responses.countSocket(isFull: !isWritable)
        guard isWritable else { return self.connection.watchSocket() }
        self.connection.socketOpened()
        self.requests?.resumeResponses()
        self.requests?.listening?.sendWaiting()
        self.requests?.downloads?.send()
        self.connection.flush()
    }
}
