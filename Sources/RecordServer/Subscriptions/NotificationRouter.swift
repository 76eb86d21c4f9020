import EngineThreads
import Foundation
import NIOCore
import NIOPosix
import RecordStore
import StorageContract
import Synchronization

/// Notifies listeners of commits.
///
/// A thread of its own takes the store's reports, round robin by database, finds the matching
/// subscriptions, and hands notifications to the event loops.
///
/// Neither the writer nor an event loop waits for it.
final class NotificationRouter: Sendable {
    private struct Running {
        var mailboxes: [ListenerMailbox]
        var ended: EventLoopFuture<Void>
    }

    private let store: any SubscriptionStore
    private let run: ServerRun
    let queue = RouterQueue()
    private let metrics: ServerMetrics
    /// Milliseconds of a monotonic clock.
    private let clock: @Sendable () -> Int64
    private let running = Mutex<Running?>(nil)

    init(
        store: any SubscriptionStore,
        run: ServerRun,
        metrics: ServerMetrics,
        clock: @escaping @Sendable () -> Int64 = NotificationRouter.monotonicMilliseconds
    ) {
        self.store = store
        self.run = run
        self.metrics = metrics
        self.clock = clock
    }

    /// Measured on request.
    var readings: [Metric] { [Metric(.notificationChangesWaiting, self.queue.waiting)] }

    /// Starts the thread.
    func start(mailboxes: [ListenerMailbox]) {
        // A loop that no shutdown ends: the thread may end later.
        let ended = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: Void.self)
        self.running.withLock { $0 = Running(mailboxes: mailboxes, ended: ended.futureResult) }
        self.store.report { [queue = self.queue, metrics = self.metrics] changes in
            if !queue.add(changes) { metrics.notificationDetailsDropped() }
        }
        let thread = Thread {
            self.run(mailboxes)
            ended.succeed()
        }
        thread.start()
        // Foundation can name only a thread that was started.
        thread.name = "tidemark-router"
    }

    /// Drops queued work and ends the thread after its current piece of work.
    ///
    /// Returns at once if it is not running, and at the latest after `limit`.
    func stop(within limit: Duration) async {
        let running = self.running.withLock { running in
            let taken = running
            running = nil
            return taken
        }
        guard let running else { return }
        for mailbox in running.mailboxes { mailbox.close() }
        self.queue.close()
        let late = running.ended.eventLoop.makePromise(of: Void.self)
        let timer = running.ended.eventLoop.scheduleTask(in: TimeAmount(limit)) { late.succeed() }
        running.ended.cascade(to: late)
        try? await late.futureResult.get()
        timer.cancel()
    }

    /// A connection asks to listen.
    ///
    /// Its event loop is notified when it does, or why it can't.
    func listen(_ listener: NotificationRouting.Listener) {
        let store = self.store
        guard self.queue.add(.asked(listener.number)) else { return }
        store.startWatching(listener.identity) { [queue = self.queue] result in
            guard !queue.add(.started(listener, result)) else { return }
            if case .success = result { store.stopWatching(listener.identity) }
        }
    }

    /// A connection has ended that listened or was about to; called once for each `listen`.
    func stopped(_ number: UInt64) {
        self.queue.add(.stopped(number))
    }

    private func run(_ mailboxes: [ListenerMailbox]) {
        var routing = NotificationRouting(loops: mailboxes.count, run: self.run)
        var turns = RouterTurns()
        var isInParts = false
        while let events = self.queue.take(self.waitMax(turns, routing)) {
            for event in events { self.accept(event, &turns, &routing) }
            // Only between commits: within one, the passing time would pay for every comparison of a
            // slow machine.
            if !isInParts { routing.timePassed(nowMilliseconds: self.clock()) }
            isInParts = turns.popFirst().map { self.execute($0, &turns, &routing) } ?? false
            self.deliver(&routing, to: mailboxes)
        }
    }

    private func waitMax(_ turns: RouterTurns, _ routing: NotificationRouting) -> RouterQueue.Wait {
        guard turns.isEmpty else { return .none }
        return routing.isOwing ? .until(MonotonicTime.nanoseconds() + Self.pauseNanoseconds) : .endless
    }

    private func deliver(_ routing: inout NotificationRouting, to mailboxes: [ListenerMailbox]) {
        for (mailbox, posts) in zip(mailboxes, routing.takePosts()) { mailbox.deliver(posts) }
        self.metrics.routed(routing.takeCounts())
    }

    /// Interval of the check whether owed change hints can be afforded.
    private static let pauseNanoseconds: Int64 = 10_000_000

    private static let epoch = ContinuousClock.now

    static let monotonicMilliseconds: @Sendable () -> Int64 = {
        NotificationRouter.epoch.duration(to: .now).wholeMilliseconds
    }

    /// Work of one database waits for a turn; starts and ends of listeners do not.
    private func accept(
        _ event: RouterQueue.Event,
        _ turns: inout RouterTurns,
        _ routing: inout NotificationRouting
    ) {
        switch event {
        case .committed(let commit):
            turns.append(.committed(commit, RoutedCommit(commit.committed)), of: commit.database)
        case .skipped(let database):
            turns.append(.skipped, of: database)
        case .answered(let database, let answers):
            turns.resume(database) { $0.answer(answers) }
        case .asked(let number):
            routing.asked(number)
        case .started(let listener, let result):
            if routing.started(listener, result) {
                self.store.stopWatching(listener.identity)
            } else if case .success(let start) = result {
                for joining in JoiningListener.all(of: listener, start) {
                    turns.append(.joined(joining), of: joining.database)
                }
            }
            self.metrics.listeners(now: routing.listenersCount)
        case .stopped(let number):
            if let identity = routing.stopped(number) { self.store.stopWatching(identity) }
            self.metrics.listeners(now: routing.listenersCount)
        }
    }

    /// - Returns: Whether work is left.
    private func execute(
        _ work: RouterTurns.Work,
        _ turns: inout RouterTurns,
        _ routing: inout NotificationRouting
    ) -> Bool {
        let before = routing.cost
        let rest = self.execute(work, &routing)
        defer { turns.charge(routing.cost - before, of: work.database) }
        guard let rest else { return false }
        if case .committed(_, let routed) = rest.kind, !routed.questions.isEmpty {
            // The reply may come at once.
            turns.park(rest)
            self.store.mayRead(routed.questions) {
                [queue = self.queue, database = work.database] answers in
                queue.add(.answered(database, answers))
            }
            return false
        }
        turns.putBack(rest)
        return true
    }

    /// Does as much of the work as a turn has time for.
    ///
    /// - Returns: The work that is left.
    private func execute(_ work: RouterTurns.Work, _ routing: inout NotificationRouting) -> RouterTurns.Work?
    {
        var rest = work
        switch work.kind {
        case .committed(let commit, var routed):
            if routed.next == 0 {
                let committed = commit.committed
                for database in Set(committed.incomplete.keys).union(committed.overwritten.keys) {
                    self.findSubscriptions(in: database, &routing)
                }
            }
            let step = routing.route(
                &routed,
                costMax: RouterTurns.turnCost,
                isStopped: { self.queue.isClosed }
            )
            guard step == .routed else {
                rest.kind = .committed(commit, routed)
                return rest
            }
            self.queue.routed(commit)
            for (database, position) in commit.committed.incomplete {
                self.readOn(database, upTo: position, &routing)
            }
        case .skipped:
            guard let skipped = self.queue.takeSkipped(of: work.database) else { return nil }
            for (environment, change) in skipped.subscriptions {
                switch change {
                case .saved(let watched): routing.saved(watched, in: environment)
                case .deleted(let key): routing.deleted(key, in: environment)
                }
            }
            // The rows have the latest state.
            if skipped.isPart { self.findSubscriptions(in: work.database, &routing) }
            if let position = skipped.position { routing.skipped(work.database, upTo: position) }
        case .joined(var joining):
            guard routing.joined(&joining, costMax: RouterTurns.turnCost) else {
                rest.kind = .joined(joining)
                return rest
            }
        }
        return nil
    }

    /// Reads the current subscriptions: another process may have saved or deleted some.
    private func findSubscriptions(in database: DatabaseID, _ routing: inout NotificationRouting) {
        for owners in routing.owners(in: database) {
            guard let found = self.store.subscriptions(of: owners, in: database) else { continue }
            routing.found(found, of: owners, in: database)
        }
    }

    /// The store reported a position, without all changes up to it.
    private func readOn(
        _ database: DatabaseID,
        upTo position: Int64,
        _ routing: inout NotificationRouting
    ) {
        guard let start = routing.followed[database]?.position else { return }
        routing.readOn(self.store.tail(of: database, after: start), of: database, upTo: position)
    }
}
