import Foundation
import NIOPosix
import RecordModel
import RecordStore
import Testing

@testable import RecordServer

/// The router's thread at the end of the server.
struct RouterStopTests {
    @Test(.timeLimit(.minutes(1))) func `a stop drops what waits and ends after one piece of work`() async {
        let store = GatedStore()
        let router = await Self.blocked(by: store)
        async let stopped: Void = router.stop(within: .seconds(60))
        while !router.queue.isClosed { await Task.yield() }
        store.open()
        await stopped
        #expect(store.questions == 1)
    }

    @Test(.timeLimit(.minutes(1))) func `a stop returns whatever the thread does`() async {
        let store = GatedStore()
        let router = await Self.blocked(by: store)
        await router.stop(within: .milliseconds(1))
        #expect(store.questions == 1)
        store.open()
    }

    /// A router that asks whether somebody may read the first of many records, and gets no answer.
    private static func blocked(by store: GatedStore) async -> NotificationRouter {
        let router = NotificationRouter(store: store, metrics: ServerMetrics())
        let eventLoop = MultiThreadedEventLoopGroup.singleton.any()
        router.start(mailboxes: [ListenerMailbox(eventLoop: eventLoop) { _ in }])
        router.listen(Sample.listener(1))
        // Each is another question.
        let changes = (0..<1_000).map { number in
            let record = CommittedRecord(
                zone: "Zone",
                name: "record",
                before: nil,
                after: Sample.stored(createdBy: "_\(number)"),
                definitions: Sample.definitions([:])
            )
            return Sample.change(.record(record), at: 20 + Int64(number), in: Sample.publicDatabase)
        }
        store.commit(CommittedChanges(committedMilliseconds: 1, changes: changes))
        store.commit(CommittedChanges(committedMilliseconds: 1, changes: changes))
        while store.questions == 0 { await Task.yield() }
        return router
    }
}

/// Answers nobody who asks whether somebody may read a record until it is opened.
///
/// SAFETY: variables are read and written only while the condition is locked.
private final class GatedStore: SubscriptionStore, @unchecked Sendable {
    private let condition = NSCondition()
    private var isOpen = false
    private var asked = 0
    private var observer: (@Sendable (CommittedChanges) -> Void)?

    var questions: Int { self.condition.withLock { self.asked } }

    func open() {
        self.condition.withLock {
            self.isOpen = true
            self.condition.broadcast()
        }
    }

    func commit(_ changes: CommittedChanges) {
        let observer = self.condition.withLock { self.observer }
        observer?(changes)
    }

    func mayRead(recordType: String, createdBy creator: String, by requester: Requester) -> Bool {
        self.condition.withLock {
            self.asked += 1
            while !self.isOpen { self.condition.wait() }
            return true
        }
    }

    func report(to observer: @escaping @Sendable (CommittedChanges) -> Void) {
        self.condition.withLock { self.observer = observer }
    }

    func startWatching(
        _ listener: ListenerIdentity,
        reply: @escaping @Sendable (Result<ListeningStart, StoreError>) -> Void
    ) {
        let watched = Sample.watched("sub", Sample.query(), database: Sample.publicDatabase)
        reply(.success(ListeningStart(subscriptions: [watched])))
    }

    func fetch(
        _ selection: FetchSubscriptions.Selection,
        for requester: Requester,
        reply: @escaping @Sendable (Result<[SubscriptionOutcome], StoreError>) -> Void
    ) {
        reply(.success([]))
    }

    func stopWatching(_ listener: ListenerIdentity) {}
    func acknowledge(_ acknowledgements: [Acknowledgement], by listener: ListenerIdentity) {}
    func expire(_ subscription: SubscriptionKey) {}
}
