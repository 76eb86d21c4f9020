import Foundation
import RecordModel
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance
@testable import RecordStore

/// The ledger of what installations have fetched, and what is said of one record.
@Suite(.timeLimit(.minutes(10)))
struct ExplainTests {
    @Test(arguments: EngineKind.allCases)
    func `an installation has what came before the token that it presents`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([save("a"), save("b")])
        #expect(try await Self.states(it, of: id("a")) == ["alice - neverCame"])
        var token = try await Self.follow(it, 1)
        #expect(try await Self.states(it, of: id("a")) == ["alice 1 wasSent"])
        token = try await Self.follow(it, 1, after: token)
        #expect(try await Self.states(it, of: id("a")) == ["alice 1 hasIt"])
        _ = try await it.modify([save("c")])
        _ = try await it.modify([save("b", ["title": .string("new")])], policy: .changedKeys)
        #expect(try await Self.states(it, of: id("c")) == ["alice 1 isBehind 2"])
        #expect(try await Self.states(it, of: id("a")) == ["alice 1 hasIt"])
        #expect(try await Self.states(it, of: id("b")) == ["alice 1 isBehind 2"])
        _ = try await it.modify([], deletes: [id("a")])
        #expect(try await Self.states(it, of: id("c")) == ["alice 1 isBehind 3"])
        token = try await Self.follow(it, 1, after: token)
        token = try await Self.follow(it, 1, after: token)
        #expect(try await Self.states(it, of: id("c")) == ["alice 1 hasIt"])
        // An earlier token takes nothing away.
        _ = try await Self.follow(it, 1)
        #expect(try await Self.states(it, of: id("c")) == ["alice 1 hasIt"])
        await #expect(throws: StoreError.self) { try await it.explanation(of: id("a")) }
    }

    @Test(arguments: EngineKind.allCases)
    func `pages of a first snapshot are no proof before the last`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify((0..<5).map { save("n\($0)") })
        let token = try await Self.follow(it, 1, limit: 2)
        let states = try await Self.states(it, of: id("n0"))
        #expect(states == ["alice 1 isBehind 5"])
        _ = try await Self.follow(it, 1, after: token, limit: 2)
        #expect(try await it.explanation(of: id("n0")).deliveries[0].why.contains("for the first time"))
    }

    @Test(arguments: EngineKind.allCases)
    func `a token for now passes over what was there`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([save("old")])
        let now = try await withCheckedThrowingContinuation { continuation in
            it.store.token(of: notes, for: it.privately) { continuation.resume(with: $0) }
        }
        _ = try await it.modify([save("new")])
        let token = try await Self.follow(it, 1, after: now)
        _ = try await Self.follow(it, 1, after: token)
        #expect(try await Self.states(it, of: id("old")) == ["alice 1 passedOver"])
        #expect(try await Self.states(it, of: id("new")) == ["alice 1 hasIt"])
    }

    @Test(arguments: EngineKind.allCases)
    func `what was noted outlives the engine, and goes with the zone`(kind: EngineKind) async throws {
        var it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([save("a")])
        let token = try await Self.follow(it, 1)
        _ = try await Self.follow(it, 1, after: token)
        _ = try await Self.follow(it, 2)
        it = try await it.reopened()
        #expect(try await Self.states(it, of: id("a")) == ["alice 1 hasIt", "alice 2 wasSent"])
        #expect(try it.count(InstallationSeenRow.self) == 2)
        // In another zone both are known, and have never come.
        _ = try await it.modifyZones(["other"])
        let other = ZoneID(zoneName: "other")
        _ = try await it.modify([save("o", in: other)])
        #expect(
            try await Self.states(it, of: id("o", in: other)) == ["alice 1 neverCame", "alice 2 neverCame"]
        )
        _ = try await it.modifyZones([], deletes: ["notes"])
        try await it.swept()
        #expect(try it.count(InstallationSeenRow.self) == 0)
    }

    @Test(arguments: EngineKind.allCases)
    func `a zone keeps the installations of a user that came last`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([save("a")])
        for number in 1...40 as ClosedRange<UInt8> {
            it.clock.advance(milliseconds: 10)
            _ = try await Self.follow(it, number)
        }
        let reopened = try await it.reopened()
        let found = try await reopened.explanation(of: id("a")).deliveries.map { $0.installation[0] }
        #expect(found.sorted() == Array(9...40))
        #expect(found.first == 40, "the last one first")
    }

    @Test(arguments: EngineKind.allCases)
    func `the owner sees participants, and a participant themselves alone`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([save("secret")])
        let share = try await it.share("list") { $0.participants = [participant(EngineUnderTest.bob)] }
        let invited = "bob - mayNotRead: is invited to the share 'share' and has not joined"
        #expect(try await Self.states(it, of: id("list")) == ["alice - neverCame", invited])
        try await it.join(share, by: it.bobShared)
        var token = try await Self.follow(it, 7, by: it.bobShared)
        token = try await Self.follow(it, 7, after: token, by: it.bobShared)
        _ = try await Self.follow(it, 1)
        #expect(try await Self.states(it, of: id("list")) == ["alice 1 wasSent", "bob 7 hasIt"])
        #expect(try await Self.states(it, of: sharedID("list"), by: it.bobShared) == ["bob 7 hasIt"])
        let own = try await it.explanation(of: sharedID("list"), by: it.bobShared)
        #expect(own.access.map(\.who) == [EngineUnderTest.bob])
        #expect(try await Self.states(it, of: id("secret")).last?.hasPrefix("bob 7 mayNotRead") == true)
        await #expect(throws: StoreError.recordMissing) {
            try await it.explanation(of: sharedID("secret"), by: it.bobShared)
        }
        // A record that comes under the share later is news for Bob.
        _ = try await it.modify([child("secret", of: "list")], policy: .changedKeys)
        #expect(try await Self.states(it, of: id("secret")) == ["alice 1 isBehind 1", "bob 7 isBehind 1"])
        let uncounted = try await Self.states(it, of: sharedID("secret"), by: it.bobShared)
        #expect(uncounted == ["bob 7 isBehind"], "a count would tell of what is not shared")
        token = try await Self.follow(it, 7, after: token, by: it.bobShared)
        _ = try await Self.follow(it, 7, after: token, by: it.bobShared)
        #expect(try await Self.states(it, of: id("secret")).last == "bob 7 hasIt")
        // Bob leaves: what the installation had is of no account.
        _ = try await it.modify([], deletes: [sharedID("share")], by: it.bobShared)
        #expect(try await Self.states(it, of: id("list")).last?.hasPrefix("bob 7 mayNotRead") == true)
    }

    @Test(arguments: EngineKind.allCases)
    func `in the public database users see themselves, and an operator everybody`(
        kind: EngineKind
    ) async throws {
        let it = try EngineUnderTest(kind)
        _ = try await it.modify([save("news", in: .default)], by: it.publicly)
        for (number, requester) in [(1, it.publicly), (2, it.bobPublicly)] as [(UInt8, Requester)] {
            let token = try await Self.follow(it, number, in: .default, by: requester)
            _ = try await Self.follow(it, number, after: token, in: .default, by: requester)
        }
        _ = try await Self.follow(it, 3, in: .default, by: it.anonymously)
        let news = id("news", in: .default)
        #expect(try await Self.states(it, of: news, by: it.publicly) == ["alice 1 hasIt"])
        #expect(try await Self.states(it, of: news, by: it.bobPublicly) == ["bob 2 hasIt"])
        var operatorOfAll = it.anonymously
        operatorOfAll.isOperator = true
        #expect(try await Self.states(it, of: news, by: operatorOfAll) == ["alice 1 hasIt", "bob 2 hasIt"])
        let access = try await it.explanation(of: news, by: it.bobPublicly).access
        #expect(access.map(\.who) == [EngineUnderTest.bob])
        #expect(access.first?.may == [.read, .create])
    }

    @Test(arguments: EngineKind.allCases)
    func `subscriptions are told to their users, with the reason`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modifySubscriptions([
            zoneSubscription("zone"), query("tasks", type: "Task"), databaseSubscription("all"),
        ])
        _ = try await it.modify([save("a")])
        let share = try await it.share("a") { $0.participants = [participant(EngineUnderTest.bob)] }
        try await it.join(share, by: it.bobShared)
        // The shared database follows what came before the subscription.
        _ = try await it.sharedZones(by: it.bobShared)
        _ = try await it.modifySubscriptions([databaseSubscription("bob's")], by: it.bobShared)
        func fired(_ id: RecordID, by requester: Requester) async throws -> [String] {
            try await it.explanation(of: id, by: requester).matches.map {
                "\($0.subscriptionID) \($0.isMatch)"
            }
        }
        #expect(try await fired(id("a"), by: it.privately) == ["all true", "tasks false", "zone true"])
        #expect(try await fired(sharedID("a"), by: it.bobShared) == ["bob's false"])
        _ = try await it.modify([save("a", ["title": .string("t")])], policy: .changedKeys)
        #expect(try await fired(sharedID("a"), by: it.bobShared) == ["bob's true"])
        var operatorOfAll = it.privately
        operatorOfAll.isOperator = true
        #expect(
            try await fired(id("a"), by: operatorOfAll)
                == ["all true", "tasks false", "zone true", "bob's true"]
        )
    }

    @Test(arguments: EngineKind.allCases)
    func `nothing is left of a user who is deleted`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let share = try await it.share("list") { $0.participants = [participant(EngineUnderTest.bob)] }
        try await it.join(share, by: it.bobShared)
        _ = try await Self.follow(it, 7, by: it.bobShared)
        _ = try await Self.follow(it, 1)
        let reopened = try await it.reopened()
        #expect(try reopened.count(InstallationSeenRow.self) == 2)
        let bob = Deletion.user(name: "bob", container: EngineUnderTest.container)
        try reopened.store.directory.beginDeletion(bob)
        while try reopened.store.directory.deleteSome(of: bob) != .done {
            try await Task.sleep(for: .milliseconds(1))
        }
        #expect(try reopened.count(InstallationSeenRow.self) == 1)
    }

    // MARK: Words

    /// The states of a record's deliveries as words.
    private static func states(
        _ it: EngineUnderTest,
        of id: RecordID,
        by requester: Requester? = nil
    ) async throws -> [String] {
        try await it.explanation(of: id, by: requester).deliveries.map { delivery in
            let names = [EngineUnderTest.alice: "alice", EngineUnderTest.bob: "bob"]
            let user = names[delivery.userRecordName] ?? "?"
            let installation = delivery.installation.first.map { "\($0)" } ?? "-"
            let count = delivery.changesBehind > 0 ? " \(delivery.changesBehind)" : ""
            let why = delivery.state == .mayNotRead ? ": \(delivery.why)" : ""
            return "\(user) \(installation) \(delivery.state)\(count)\(why)"
        }
    }

    /// Reads a page for an installation, and returns the token.
    private static func follow(
        _ it: EngineUnderTest,
        _ installation: UInt8,
        after token: [UInt8]? = nil,
        limit: Int = 100,
        in zone: ZoneID? = nil,
        by requester: Requester? = nil
    ) async throws -> [UInt8] {
        let own = requester?.scope == .shared ? aliceNotes : notes
        var read = FeedRead(zone: zone ?? own, token: token, limit: limit)
        read.installation = Array(repeating: installation, count: 16)
        return try await it.changes(read, by: requester).token
    }
}
