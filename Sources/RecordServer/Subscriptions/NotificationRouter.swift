import Foundation
import NIOCore
import RecordStore
import Synchronization

/// Tells listeners what commits: a thread of its own takes what the store reports, in order, finds out whose subscriptions it meets, and
/// hands notifications to the event loops.
///
/// Neither the writer nor an event loop waits for it.
final class NotificationRouter: Sendable {
    private struct Running {
        var mailboxes: [ListenerMailbox]
        var ended: EventLoopFuture<Void>
    }

    private let store: any SubscriptionStore
    private let queue = RouterQueue()
    private let metrics: ServerMetrics
    private let running = Mutex<Running?>(nil)

    init(store: any SubscriptionStore, metrics: ServerMetrics) {
        self.store = store
        self.metrics = metrics
    }

    /// Starts the thread; `ended` is kept when it has come to its end.
    func start(mailboxes: [ListenerMailbox], ended: EventLoopPromise<Void>) {
        self.running.withLock { $0 = Running(mailboxes: mailboxes, ended: ended.futureResult) }
        self.store.report { [queue = self.queue, metrics = self.metrics] changes in
            if !queue.add(changes) { metrics.notificationDetailsDropped() }
        }
        let thread = Thread {
            self.run(mailboxes)
            ended.succeed()
        }
        thread.start()
        // Before, there is nothing yet that Foundation could name.
        thread.name = "tidemark-router"
    }

    /// Ends the thread after it has let go of every listener that has ended; returns at once when it does not run.
    func stop() async {
        let running = self.running.withLock { running in
            let taken = running
            running = nil
            return taken
        }
        guard let running else { return }
        for mailbox in running.mailboxes { mailbox.close() }
        self.queue.close()
        try? await running.ended.get()
    }

    /// A connection asks to listen.
    ///
    /// Its event loop is told when it does, or why it can't.
    func listen(_ listener: NotificationRouting.Listener) {
        let store = self.store
        guard self.queue.add(.asked(listener.number)) else { return }
        store.startWatching(listener.identity) { [queue = self.queue] result in
            guard !queue.add(.started(listener, result)) else { return }
            if case .success = result { store.stopWatching(listener.identity) }
        }
    }

    /// A connection has ended that listens or is about to; called once for each `listen`.
    func stopped(_ number: UInt64) {
        self.queue.add(.stopped(number))
    }

    private func run(_ mailboxes: [ListenerMailbox]) {
        var routing = NotificationRouting(loops: mailboxes.count)
        let store = self.store
        let mayRead: NotificationRouting.MayRead = { store.mayRead(recordType: $0, createdBy: $1, by: $2) }
        while let events = self.queue.takeAll() {
            for event in events {
                self.execute(event, mayRead, &routing)
                for (mailbox, posts) in zip(mailboxes, routing.takePosts()) { mailbox.deliver(posts) }
            }
        }
    }

    private func execute(
        _ event: RouterQueue.Event,
        _ mayRead: NotificationRouting.MayRead,
        _ routing: inout NotificationRouting
    ) {
        switch event {
        case .committed(let committed):
            routing.committed(committed, mayRead: mayRead)
        case .skipped(let skipped):
            for (environment, change) in skipped.subscriptions {
                switch change {
                case .saved(let watched): routing.saved(watched, in: environment)
                case .deleted(let key): routing.deleted(key, in: environment)
                }
            }
            routing.skipped(skipped.databases)
        case .asked(let number):
            routing.asked(number)
        case .started(let listener, let result):
            if routing.started(listener, result) { self.store.stopWatching(listener.identity) }
            self.metrics.listeners(now: routing.listenersCount)
        case .stopped(let number):
            if let identity = routing.stopped(number) { self.store.stopWatching(identity) }
            self.metrics.listeners(now: routing.listenersCount)
        }
    }
}
