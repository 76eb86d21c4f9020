import NIOCore
import StorageContract
import Synchronization

/// The reply of the engine to one stream of one connection.
struct EngineReply: Sendable {
    var requests: NIOLoopBound<ConnectionRequests>
    var stream: UInt32
    var result: Result<Outcomes, StoreError>
}

/// The way back from the engine to a stream.
struct EngineReturn: Sendable {
    let requests: NIOLoopBound<ConnectionRequests>
    let stream: UInt32
    let mailbox: ReplyMailbox
    let server: ServerContext
    /// Share tokens with misses that are counted.
    let tokens: ShareTokens?

    /// Delivers the engine's reply to the stream: once, from any thread.
    func deliver(_ result: Result<Outcomes, StoreError>) {
        if let tokens = self.tokens { self.server.count(result, of: tokens) }
        self.mailbox.deliver(EngineReply(requests: self.requests, stream: self.stream, result: result))
    }
}

/// Delivers replies from threads of the engine to an event loop.
///
/// One wake-up serves all replies that arrive before the loop runs. So a group commit costs one
/// wake-up per loop, and its replies on one connection share a flush.
///
/// Bounded by the requests in flight of the loop's connections: each has one reply.
final class ReplyMailbox: Sendable {
    private let eventLoop: any EventLoop
    private let waiting = Mutex<[EngineReply]>([])

    init(eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    /// Hands a reply to its connection: at once on the event loop, otherwise with the next wake-up.
    func deliver(_ reply: EngineReply) {
        guard !self.eventLoop.inEventLoop else {
            reply.requests.value.replied(reply.result, on: reply.stream)
            return
        }
        let isFirst = self.waiting.withLock { waiting in
            waiting.append(reply)
            return waiting.count == 1
        }
        if isFirst { self.eventLoop.execute { self.drain() } }
    }

    private func drain() {
        let replies = self.waiting.withLock { waiting in
            let replies = waiting
            waiting = []
            return replies
        }
        for reply in replies { reply.requests.value.replied(reply.result, on: reply.stream) }
        for reply in replies { reply.requests.value.flush() }
    }
}
