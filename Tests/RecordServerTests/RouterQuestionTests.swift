import RecordModel
import RecordStore
import StorageContract
import TestSupport
import Testing

@testable import RecordServer

/// The questions whether users may read what changed, and what waits for their answers.
struct RouterQuestionTests {
    private static let carol = SignIn(
        environment: Sample.environment,
        publicDatabase: Sample.publicDatabase,
        privateDatabase: DatabaseID(rawValue: 3),
        userRecordName: "_carol"
    )
    private static let query = Sample.watched("public", Sample.query(), database: Sample.publicDatabase)

    private static func changes(
        _ positions: [Int64],
        in database: DatabaseID = Sample.publicDatabase,
        by creators: [String] = [Sample.owner]
    ) -> CommittedChanges {
        let changes = positions.enumerated().map { offset, position in
            let record = CommittedRecord(
                zone: "Zone",
                name: "record",
                before: nil,
                after: Sample.stored(createdBy: creators[offset % creators.count]),
                definitions: Sample.definitions([:])
            )
            return Sample.change(.record(record), at: position, in: database)
        }
        return CommittedChanges(committedMilliseconds: 1, changes: changes)
    }

    @Test func `all questions of a step are asked together, and each once`() {
        var routing = NotificationRouting(loops: 1, run: Sample.run)
        let hers = Sample.watched("hers", Sample.query(), database: Sample.publicDatabase, owner: "_carol")
        routing.start(Sample.listener(1), [Self.query])
        routing.start(Sample.listener(2, signIn: Self.carol), [hers])
        _ = routing.takePosts()
        var commit = RoutedCommit(Self.changes([20, 21, 22, 23], by: ["_a", "_b"]))
        #expect(routing.route(&commit) == .asks)
        #expect(Set(commit.questions.map(\.createdBy)) == ["_a", "_b"])
        #expect(Set(commit.questions).count == 4 && commit.questions.count == 4)
        #expect(routing.takePosts()[0].isEmpty)
        let mayRead = commit.questions.map {
            $0.createdBy == "_a" || $0.requester.userRecordName == "_carol"
        }
        commit.answer(mayRead)
        #expect(routing.route(&commit) == .routed)
        let told = routing.takePosts()[0].compactMap(\.delivery)
        func positions(_ id: String) -> [Int64] {
            told.filter { $0.notification.subject.key.id == id }.map(\.notification.position)
        }
        #expect(positions("public") == [20, 22])
        #expect(positions("hers") == [20, 21, 22, 23])
    }

    @Test func `what nobody can tell is owed as news`() {
        var routing = NotificationRouting(loops: 1, run: Sample.run)
        routing.start(Sample.listener(1), [Self.query])
        _ = routing.takePosts()
        var commit = RoutedCommit(Self.changes([20, 21]))
        #expect(routing.route(&commit) == .asks)
        commit.answer(nil)
        #expect(routing.route(&commit) == .routed)
        #expect(routing.takePosts()[0].isEmpty)
        for now in [0, 10_000] { routing.timePassed(nowMilliseconds: Int64(now)) }
        let told = routing.takePosts()[0].compactMap(\.delivery)
        #expect(told.map(\.notification.position) == [21])
    }

    @Test(.timeLimit(.minutes(10)))
    func `a database that waits for an answer delays no other, and stays in order`() async throws {
        let mine = Sample.watched("mine", Sample.query(), database: DatabaseID(rawValue: 3), owner: "_carol")
        let router = RunningRouter(GatedStore([Self.query, mine], keepsReplies: true))
        func kept() async -> GatedStore.Kept {
            while true {
                if let kept = router.store.takeKept() { return kept }
                await Task.yield()
            }
        }
        router.router.listen(Sample.listener(1))
        router.router.listen(Sample.listener(2, signIn: Self.carol))
        router.store.commit(Self.changes([20]))
        let first = await kept()
        router.store.commit(Self.changes([21]))
        router.router.listen(Sample.listener(3))
        router.store.commit(Self.changes([22]))
        router.store.commit(Self.changes([20], in: DatabaseID(rawValue: 3)))
        var told = await router.told(1)
        #expect(told.map(\.notification.subject.key.id) == ["mine"])
        #expect(router.store.questions == 1, "what follows waits")
        first.reply([true])
        for _ in 0..<2 { await kept().reply([true]) }
        told = await router.told(4)
        #expect(told.dropFirst().map(\.notification.position) == [20, 21, 22])
        #expect(told.dropFirst().map(\.listeners) == [[1], [1], [1, 3]])
        await until { router.router.queue.waiting == 0 }
        await router.router.stop(within: .seconds(60))
    }
}
