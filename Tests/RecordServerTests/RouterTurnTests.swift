import RecordModel
import RecordStore
import StorageContract
import TestSupport
import Testing

@testable import RecordServer

/// Whose changes the router looks at next, and what stays in order.
struct RouterTurnTests {
    private static let carol = SignIn(
        environment: Sample.environment,
        publicDatabase: Sample.publicDatabase,
        privateDatabase: DatabaseID(rawValue: 3),
        userRecordName: "_carol"
    )
    private static let publicQuery = Sample.watched("public", Sample.query(), database: Sample.publicDatabase)

    @Test(.timeLimit(.minutes(10)))
    func `two hundred commits of one database keep a commit of another waiting for a turn or two`()
        async throws
    {
        let mine = Sample.watched("mine", Sample.query(), database: DatabaseID(rawValue: 3), owner: "_carol")
        let router = RunningRouter(GatedStore([Self.publicQuery, mine]))
        router.router.listen(Sample.listener(1))
        router.router.listen(Sample.listener(2, signIn: Self.carol))
        for number in 0..<200 {
            router.store.commit(Self.commit((0..<10).map { Int64(20 + number * 10 + $0) }))
        }
        await until { router.store.questions != 0 }
        router.store.commit(Self.commit([20], in: DatabaseID(rawValue: 3)))
        router.store.open()
        let told = await router.told(2_001)
        let place = try #require(told.firstIndex { $0.notification.subject.key.id == "mine" })
        #expect(place <= 2 * RouterTurns.turnCost / RoutingBudget.notificationCost)
        let positions = told.filter { $0.notification.subject.key.id == "public" }.map(
            \.notification.position
        )
        #expect(positions == Array(20..<2_020))
        #expect(router.router.queue.waiting == 0)
        await router.router.stop(within: .seconds(600))
    }

    @Test(.timeLimit(.minutes(10)))
    func `a listener hears what was committed after it began, whatever waits before`() async {
        let router = RunningRouter(GatedStore([Self.publicQuery]))
        router.router.listen(Sample.listener(1))
        router.store.commit(Self.commit([20]))
        await until { router.store.questions != 0 }
        router.store.commit(Self.commit([21]))
        router.router.listen(Sample.listener(2))
        router.router.listen(Sample.listener(3))
        router.router.stopped(3)
        router.store.commit(Self.commit([22]))
        router.store.open()
        let told = await router.told(3)
        #expect(told.map(\.notification.position) == [20, 21, 22])
        #expect(told.map(\.listeners) == [[1], [1], [1, 2]])
        await router.router.stop(within: .seconds(600))
    }

    @Test func `a transaction that is routed in parts says the same as one that is not`() {
        let watched = [
            Sample.watched("query", Sample.query()),
            Sample.watched("zone", .zone(ZoneID(zoneName: "Zone"), recordType: nil)),
        ]
        let changes = Self.commit((0..<50).map { Int64(20 + $0) }, in: Sample.privateDatabase)
        func told(costMax: Int) -> (positions: [[Int64]], parts: Int) {
            var routing = NotificationRouting(loops: 1, run: Sample.run)
            routing.start(Sample.listener(1), watched)
            _ = routing.takePosts()
            var commit = RoutedCommit(changes)
            var parts = 1
            while routing.route(&commit, costMax: costMax) == .isLeft { parts += 1 }
            let all = routing.takePosts()[0].compactMap(\.delivery).map(\.notification)
            let positions = watched.map { watched in
                all.filter { $0.subject.key == watched.key }.map(\.position)
            }
            return (positions, parts)
        }
        let whole = told(costMax: .max)
        #expect(whole.parts == 1)
        #expect(whole.positions == [Array(20..<70), [69]])
        let inParts = told(costMax: 100)
        #expect(inParts.parts >= 10)
        #expect(inParts.positions == whole.positions)
    }

    @Test func `a listener with many subscriptions begins in parts, each of them once`() {
        var routing = NotificationRouting(loops: 1, run: Sample.run)
        let watched = (0..<1_000).map {
            Sample.watched("\($0)", Sample.query("Type\($0)"), hasChanges: true, databasePosition: Int64($0))
        }
        let listener = Sample.listener(1)
        let start = ListeningStart(subscriptions: watched, positions: [:])
        routing.asked(1)
        let hasEnded = routing.started(listener, .success(start))
        #expect(!hasEnded)
        var parts = 0
        for var joining in JoiningListener.all(of: listener, start) {
            repeat { parts += 1 } while !routing.joined(&joining, costMax: RouterTurns.turnCost)
        }
        #expect(parts >= 5)
        let news = routing.takePosts()[0].compactMap(\.delivery)
        #expect(news.map(\.notification.position) == Array(0..<1_000))
        #expect(news.allSatisfy { $0.listeners == [1] })
    }

    private static func commit(
        _ positions: [Int64],
        in database: DatabaseID = Sample.publicDatabase
    ) -> CommittedChanges {
        let changes = positions.map { position in
            let record = CommittedRecord(
                zone: "Zone",
                name: "record",
                before: nil,
                after: Sample.stored(position: position),
                definitions: Sample.definitions([:])
            )
            return Sample.change(.record(record), at: position, in: database)
        }
        return CommittedChanges(committedMilliseconds: 1, changes: changes)
    }
}
