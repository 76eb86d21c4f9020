import EngineThreads
import NIOCore

/// Delivers the router's posts to one event loop: one wake-up for all posts that arrive before the
/// loop runs, so a connection's notifications share a flush.
///
/// Bounded: while too many deliveries are pending, the router waits for the loop, and its own queue
/// decides about further changes.
///
/// SAFETY: `state` is read and written only while the condition is locked.
final class ListenerMailbox: @unchecked Sendable {
    private struct State {
        var posts: [NotificationRouting.Post] = []
        var deliveries = 0
        var isClosed = false
    }

    /// Unit: notifications times listeners.
    private static let deliveriesMax = 65_536

    private let eventLoop: any EventLoop
    private let receive: @Sendable ([NotificationRouting.Post]) -> Void
    private let condition = ThreadCondition()
    private var state = State()

    /// `receive` is called on the event loop.
    init(eventLoop: any EventLoop, receive: @escaping @Sendable ([NotificationRouting.Post]) -> Void) {
        self.eventLoop = eventLoop
        self.receive = receive
    }

    /// Called on the router's thread.
    func deliver(_ posts: [NotificationRouting.Post]) {
        guard !posts.isEmpty else { return }
        let isFirst = self.condition.withLock {
            while self.state.deliveries >= Self.deliveriesMax, !self.state.isClosed { self.condition.wait() }
            guard !self.state.isClosed else { return false }
            let isFirst = self.state.posts.isEmpty
            self.state.posts += posts
            self.state.deliveries += posts.reduce(0) { $0 + $1.deliveries }
            return isFirst
        }
        if isFirst { self.eventLoop.execute { self.look() } }
    }

    /// Releases a waiting router; further posts are dropped.
    func close() {
        self.condition.withLock {
            self.state.isClosed = true
            self.state.posts = []
            self.condition.signal()
        }
    }

    private func look() {
        let posts = self.condition.withLock {
            let posts = self.state.posts
            self.state.posts = []
            self.state.deliveries = 0
            self.condition.signal()
            return posts
        }
        self.receive(posts)
    }
}

extension NotificationRouting.Post {
    fileprivate var deliveries: Int {
        switch self {
        case .began, .failed: 1
        case .delivery(let delivery): delivery.listeners.count
        }
    }
}
