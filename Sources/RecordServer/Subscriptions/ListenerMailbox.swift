import EngineThreads
import NIOCore

/// Brings what the router has for the connections of one event loop to it: one wake-up for all that
/// comes before the loop looks, so that what a connection gets meanwhile shares a flush.
///
/// Bounded: when more deliveries wait than the loop should hold, the router waits until it has
/// looked, and meanwhile its own queue decides.
///
/// SAFETY: `state` is read and written only while the condition is locked.
final class ListenerMailbox: @unchecked Sendable {
    private struct State {
        var posts: [NotificationRouting.Post] = []
        var deliveries = 0
        var isClosed = false
    }

    /// Notifications times listeners.
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

    /// The router waits no more; nothing is delivered any more.
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
