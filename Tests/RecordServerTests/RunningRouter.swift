import NIOPosix
import StorageContract
import Synchronization
import TestSupport

@testable import RecordServer

/// A router with its thread, and what it tells one event loop.
final class RunningRouter: Sendable {
    let store: GatedStore
    let router: NotificationRouter
    private let told: Told

    init(_ store: GatedStore) {
        self.store = store
        // Time stands still: nothing is paid off.
        self.router = NotificationRouter(store: store, run: .fresh(), metrics: ServerMetrics(), clock: { 0 })
        let told = Told()
        self.told = told
        let eventLoop = MultiThreadedEventLoopGroup.singleton.any()
        self.router.start(mailboxes: [ListenerMailbox(eventLoop: eventLoop) { told.add($0) }])
    }

    /// What was told, when it is so much.
    func told(_ count: Int) async -> [NotificationRouting.Delivery] {
        await until { self.told.deliveries.count >= count }
        return self.told.deliveries
    }

    private final class Told: Sendable {
        private let all = Mutex<[NotificationRouting.Delivery]>([])

        var deliveries: [NotificationRouting.Delivery] { self.all.withLock { $0 } }

        func add(_ posts: [NotificationRouting.Post]) {
            self.all.withLock { $0 += posts.compactMap(\.delivery) }
        }
    }
}
