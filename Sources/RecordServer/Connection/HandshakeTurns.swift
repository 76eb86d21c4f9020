import Admission
import NIOCore

/// Schedules the TLS handshakes of one event loop round robin by address, with other work in
/// between.
///
/// A handshake costs as much as dozens of requests, and strangers can start any number of them.
///
/// Used on the loop only.
final class HandshakeTurns {
    /// Pause between two handshakes: an event loop polls its sockets only when it has no work.
    private static let pause = TimeAmount.microseconds(50)

    private let eventLoop: any EventLoop
    private var waiting = TurnQueue<AccountHolder, () -> Void>(quantum: 1)
    private var isPausing = false

    init(eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    /// Begins a handshake when it is its address' turn: at once if none is queued.
    func ask(of holder: AccountHolder, _ begin: @escaping () -> Void) {
        self.waiting.append(begin, of: holder, cost: 1)
        if !self.isPausing { self.next() }
    }

    private func next() {
        guard let begin = self.waiting.popFirst() else { return }
        self.isPausing = true
        begin()
        self.eventLoop.assumeIsolated().scheduleTask(in: Self.pause) {
            self.isPausing = false
            self.next()
        }
    }
}

/// Holds back the first bytes of a connection, with which TLS begins, until its turn comes, and
/// stops reading meanwhile.
final class HandshakeTurn: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer

    private let turns: HandshakeTurns
    private let holder: AccountHolder
    /// `nil` until bytes arrived, and when the connection has ended.
    private var context: ChannelHandlerContext?
    private var held = ByteBuffer()
    private var isReadHeldBack = false

    init(turns: HandshakeTurns, holder: AccountHolder) {
        self.turns = turns
        self.holder = holder
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var piece = self.unwrapInboundIn(data)
        self.held.writeBuffer(&piece)
        guard self.context == nil else { return }
        self.context = context
        self.turns.ask(of: self.holder) { self.begin() }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // Bytes that were read are passed on later, with a read-complete event of their own.
        if self.context == nil { context.fireChannelReadComplete() }
    }

    func read(context: ChannelHandlerContext) {
        guard self.context == nil else {
            self.isReadHeldBack = true
            return
        }
        context.read()
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.context = nil
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
    }

    /// Passes on the bytes and removes itself.
    private func begin() {
        guard let context = self.context else { return }
        self.context = nil
        context.fireChannelRead(self.wrapInboundOut(self.held))
        self.held = ByteBuffer()
        context.fireChannelReadComplete()
        if self.isReadHeldBack { context.read() }
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
    }
}
