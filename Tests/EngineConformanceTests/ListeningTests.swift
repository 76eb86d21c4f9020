import Foundation
import RecordModel
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance
@testable import RecordStore

/// What a listener is told when it begins, and what becomes of what it acknowledges.
@Suite(.timeLimit(.minutes(10)))
struct ListeningTests {
    private static let other = ZoneID(zoneName: "other")

    /// A subscription of each kind, the first three about `notes`.
    private static let all: [RecordModel.Subscription] = [
        zoneSubscription("1 zone"), query("2 query", in: notes), query("3 default", in: .default),
        zoneSubscription("4 other", other), query("5 everywhere"), databaseSubscription("6 database"),
    ]

    private func engine(_ kind: EngineKind) async throws -> EngineUnderTest {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modifyZones(["other"])
        let outcomes = try await it.modifySubscriptions(Self.all)
        #expect(outcomes.allSatisfy { $0.error == nil })
        return it
    }

    @Test(arguments: EngineKind.allCases)
    func `news is what happened where a subscription looks`(kind: EngineKind) async throws {
        let it = try await self.engine(kind)
        #expect(try await it.news() == [])
        let about = [
            (notes, ["1 zone", "2 query", "5 everywhere", "6 database"]),
            (Self.other, ["4 other", "5 everywhere", "6 database"]),
            (.default, ["3 default", "5 everywhere"]),
        ]
        for (zone, expected) in about {
            _ = try await it.modify([save("n", in: zone)])
            #expect(try await it.news() == expected)
            #expect(try await it.news(for: 2) == expected, "of another installation as well")
            try await it.acknowledgeAll()
            try await it.acknowledgeAll(by: 2)
            #expect(try await it.news() == [])
            _ = try await it.modify([], deletes: [id("n", in: zone)])
            #expect(try await it.news() == expected, "a deletion")
            try await it.acknowledgeAll()
            try await it.acknowledgeAll(by: 2)
        }
        _ = try await it.modifyZones(["fresh"])
        #expect(try await it.news() == ["5 everywhere", "6 database"])
        try await it.acknowledgeAll()
        _ = try await it.modifyZones([], deletes: ["fresh"])
        #expect(try await it.news() == ["5 everywhere", "6 database"])
        _ = try await it.modifySubscriptions([databaseSubscription("7", type: "Note")])
        #expect(try await it.news() == ["5 everywhere", "6 database"], "a subscription is no news")
    }

    @Test(arguments: EngineKind.allCases)
    func `a listener begins with what it has in both databases`(kind: EngineKind) async throws {
        let it = try await self.engine(kind)
        _ = try await it.modifySubscriptions([query("public")], by: it.publicly)
        _ = try await it.modifySubscriptions([query("bob's")], by: it.bobPublicly)
        _ = try await it.modify([save("p", in: .default)], by: it.publicly)
        let start = try await it.startWatching()
        #expect(start.subscriptions.map(\.subscription) == [query("public")] + Self.all)
        #expect(start.subscriptions.filter(\.hasChanges).map(\.key.id) == ["public"])
        let key = try #require(start.subscriptions.first?.key)
        #expect(key.database == it.publicly.database && key.owner == EngineUnderTest.alice)
        let tag = try #require(try await it.record(id("p", in: .default), by: it.publicly)?.changeTag)
        #expect(start.subscriptions[0].position == Int64(tag, radix: 36), "the database's position")
    }

    @Test(arguments: EngineKind.allCases)
    func `to save it again takes no news away, to define it anew begins anew`(kind: EngineKind) async throws {
        let it = try await self.engine(kind)
        _ = try await it.modify([save("n")])
        try await it.acknowledgeAll(by: 2)
        _ = try await it.modifySubscriptions([zoneSubscription("1 zone")])
        #expect(try await it.news().contains("1 zone"))
        #expect(try await it.news(for: 2).contains("1 zone") == false)
        _ = try await it.modifySubscriptions([zoneSubscription("1 zone", type: "Note")])
        #expect(try await it.news().contains("1 zone") == false)
        // An acknowledgement of what it was before says nothing about what it is now.
        let old = try await it.startWatching(it.listener(3)).subscriptions[0]
        _ = try await it.modify([save("m")])
        _ = try await it.modifySubscriptions([zoneSubscription("1 zone", type: "Task")])
        _ = try await it.modify([save("o")])
        let late = Acknowledgement(subscription: old.key, position: .max)
        it.store.subscriptions.acknowledge([late], by: it.listener(3))
        #expect(try await it.news(for: 3).contains("1 zone"))
        let reopened = try await it.reopened()
        #expect(try await reopened.news(for: 3).contains("1 zone"))
    }

    @Test(arguments: EngineKind.allCases)
    func `what was acknowledged outlives the engine and never goes back`(kind: EngineKind) async throws {
        var it = try await self.engine(kind)
        _ = try await it.modify([save("n")])
        let before = try await it.startWatching().subscriptions
        _ = try await it.modify([save("m")])
        try await it.acknowledgeAll()
        for _ in 0..<2 {
            // What waits, and what is written.
            it.store.subscriptions.acknowledge(
                before.map { Acknowledgement(subscription: $0.key, position: $0.position) },
                by: it.listener()
            )
            #expect(try await it.news() == [])
            it = try await it.reopened()
            #expect(try await it.news() == [])
        }
        #expect(try await it.news(for: 2) != [])
    }

    @Test(arguments: EngineKind.allCases)
    func `it is written within a second or two when nobody commits, and goes with its subscription`(
        kind: EngineKind
    ) async throws {
        let it = try await self.engine(kind)
        _ = try await it.modify([save("n")])
        let commits = it.store.statistics.commits
        for installation in 1...3 as ClosedRange<UInt8> { try await it.acknowledgeAll(by: installation) }
        let expected = Self.all.count * 3
        let limit = Date(timeIntervalSinceNow: 600)
        while try it.count(ListenerCursorRow.self) < expected, Date() < limit {
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(try it.count(ListenerCursorRow.self) == expected)
        #expect(it.store.statistics.commits == commits, "no request was needed")
        #expect(try await it.wrongCounters() == [])
        _ = try await it.modifySubscriptions([], deletes: ["5 everywhere"])
        #expect(try it.count(ListenerCursorRow.self) == expected - 3)
        _ = try await it.modifySubscriptions([query("2 query")])
        #expect(try it.count(ListenerCursorRow.self) == expected - 6)
        #expect(try await it.wrongCounters() == [])
        _ = try await it.modifyZones([], deletes: ["notes"])
        #expect(
            try it.count(ListenerCursorRow.self) == 9,
            "of the default zone, the other and the database"
        )
        #expect(try it.count(SubscriptionRow.self) == 4)
        #expect(try await it.wrongCounters() == [])
    }

    @Test(arguments: EngineKind.allCases)
    func `what waits is bounded, and what is beyond is told again`(kind: EngineKind) async throws {
        let it = try await self.engine(kind)
        _ = try await it.modify([save("n")])
        let start = try await it.startWatching().subscriptions
        let junk = (0..<65_536).map { number in
            var key = start[0].key
            key.id = "junk \(number)"
            return Acknowledgement(subscription: key, position: 1)
        }
        let mine = start.map { Acknowledgement(subscription: $0.key, position: $0.position) }
        it.store.subscriptions.acknowledge([mine[0]] + junk.dropLast() + mine.dropFirst(), by: it.listener())
        let news = try await it.news()
        #expect(!news.contains(start[0].key.id) && news.count == 3)
    }

    @Test(arguments: EngineKind.allCases)
    func `one that has fired once is deleted, unless it was saved again`(kind: EngineKind) async throws {
        let it = try await self.engine(kind)
        let reports = it.reports()
        let start = try await it.startWatching()
        _ = try await it.modifySubscriptions([Self.all[0]])
        _ = reports.take()
        for subscription in start.subscriptions.prefix(3) { it.store.subscriptions.expire(subscription.key) }
        it.store.subscriptions.expire(start.subscriptions[1].key)
        _ = try await it.modify([save("n")])
        // It is executed aside, before the save or after it.
        var words = Set(reports.words())
        while words.count < 3 {
            try await Task.sleep(for: .milliseconds(10))
            words.formUnion(reports.words())
        }
        #expect(words == ["-subscription 2 query", "-subscription 3 default", "+n"])
        #expect(try await it.subscriptionIDs() == ["1 zone", "4 other", "5 everywhere", "6 database"])
    }

    @Test(arguments: EngineKind.allCases)
    func `who may read is looked up as it is now`(kind: EngineKind) async throws {
        let it = try EngineUnderTest(kind)
        func replace(_ grants: String) throws {
            let text = "DEFINE SCHEMA CREATE ROLE Editor; RECORD TYPE Note (n INT64, \(grants));"
            let document = try SchemaParser.parse(text)
            try it.store.schemas.apply(
                .replaceDevelopment(document),
                inContainer: EngineUnderTest.container
            )
        }
        func mayRead(_ requesters: Requester...) async -> [Bool]? {
            let questions = requesters.map {
                ReadQuestion(requester: $0, recordType: "Note", createdBy: EngineUnderTest.alice)
            }
            return await withCheckedContinuation { continuation in
                it.store.subscriptions.mayRead(questions) { continuation.resume(returning: $0) }
            }
        }
        try replace("GRANT READ TO \"_creator\", GRANT READ TO Editor")
        #expect(await mayRead(it.publicly, it.bobPublicly, it.anonymously) == [true, false, false])
        #expect(await mayRead(it.bobPrivately) == [true], "a private database is its user's")
        try it.store.schemas.setRole(
            "Editor",
            ofUser: "bob",
            isGiven: true,
            inContainer: EngineUnderTest.container,
            environment: .development
        )
        #expect(await mayRead(it.publicly, it.bobPublicly, it.anonymously) == [true, true, false])
        try replace("GRANT READ TO \"_world\"")
        #expect(await mayRead(it.anonymously, it.bobPublicly) == [true, true])
    }

    @Test(arguments: EngineKind.allCases)
    func `nobody listens to an engine that is closed`(kind: EngineKind) async throws {
        let it = try await self.engine(kind)
        await it.store.shutdown()
        await #expect(throws: StoreError.shuttingDown) { try await it.startWatching() }
        await #expect(throws: StoreError.shuttingDown) { try await it.subscriptions() }
    }
}
