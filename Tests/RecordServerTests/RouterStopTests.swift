import Foundation
import NIOPosix
import RecordModel
import StorageContract
import TestSupport
import Testing

@testable import RecordServer

/// The router's thread at the end of the server.
struct RouterStopTests {
    @Test(.timeLimit(.minutes(10))) func `a stop drops what waits and ends after one piece of work`() async {
        let store = GatedStore([Self.watched])
        let router = await Self.blocked(by: store)
        async let stopped: Void = router.stop(within: .seconds(600))
        await until { router.queue.isClosed }
        store.open()
        await stopped
        #expect(store.questions == 1)
    }

    @Test(.timeLimit(.minutes(10))) func `a stop returns whatever the thread does`() async {
        let store = GatedStore([Self.watched])
        let router = await Self.blocked(by: store)
        await router.stop(within: .milliseconds(1))
        #expect(store.questions == 1)
        store.open()
    }

    private static let watched = Sample.watched("sub", Sample.query(), database: Sample.publicDatabase)

    /// A router that asks whether somebody may read the first of many records, and gets no answer.
    private static func blocked(by store: GatedStore) async -> NotificationRouter {
        let router = NotificationRouter(store: store, run: .fresh(), metrics: ServerMetrics())
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
        await until { store.questions != 0 }
        return router
    }
}
