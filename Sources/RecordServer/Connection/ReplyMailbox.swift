import NIOCore
import RecordStore
import Synchronization

/// What the engine answered to one stream of one connection.
struct EngineReply: Sendable {
    var connection: NIOLoopBound<ConnectionHandler>
    var stream: UInt32
    var result: Result<Outcomes, StoreError>
}

/// Brings replies from threads of the engine to an event loop: one wake-up for all that come before the loop looks, so
/// that a commit of many requests costs a wake-up a loop, and what they write to one connection shares a flush.
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
            reply.connection.value.replied(reply.result, on: reply.stream)
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
        for reply in replies { reply.connection.value.replied(reply.result, on: reply.stream) }
        for reply in replies { reply.connection.value.flush() }
    }
}
