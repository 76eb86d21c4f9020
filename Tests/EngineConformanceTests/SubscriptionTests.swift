import RecordModel
import RecordStore
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance

/// Saving, fetching and deleting subscriptions (`Protocol/README.md`, section 5.10).
@Suite(.timeLimit(.minutes(10)))
struct SubscriptionTests {
    private static func withInfo(_ subscription: Subscription, _ alert: String) -> Subscription {
        var subscription = subscription
        var info = NotificationInfo()
        info.alertBody = alert
        info.desiredKeys = ["title"]
        info.shouldBadge = true
        subscription.info = info
        return subscription
    }

    @Test(arguments: EngineKind.allCases)
    func `they are saved, fetched, replaced and deleted, and outlive the engine`(
        kind: EngineKind
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([save("n1", ["title": .string("a")])])
        let first = [
            query("b", isText("title", "a"), in: notes), zoneSubscription("c"),
            Self.withInfo(databaseSubscription("a", type: "Note"), "hello"),
        ]
        #expect(try await it.modifySubscriptions(first) == first.map { .subscriptionSaved($0) })
        #expect(try await it.subscriptions() == [first[2], first[0], first[1]].map { .subscription($0) })
        let replaced = Self.withInfo(zoneSubscription("b"), "another kind")
        let outcomes = try await it.modifySubscriptions([replaced], deletes: ["x", "c"])
        // The definition of "c", which is deleted after it.
        #expect(
            outcomes == [.failed(.subscriptionDuplicate(of: "c")), .failed(.subscriptionMissing), .deleted]
        )
        #expect(try await it.modifySubscriptions([replaced]) == [.subscriptionSaved(replaced)])
        let last = try await it.reopened()
        #expect(
            try await last.subscriptions(.ids(["b", "c", "a"])) == [
                .subscription(replaced), .failed(.subscriptionMissing), .subscription(first[2]),
            ]
        )
    }

    @Test(arguments: EngineKind.allCases)
    func `each user has his own in each database`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        for requester in [it.privately, it.publicly, it.bobPublicly, it.bobPrivately] {
            let outcomes = try await it.modifySubscriptions([query("q")], by: requester)
            #expect(outcomes == [.subscriptionSaved(query("q"))])
        }
        _ = try await it.modifySubscriptions([], deletes: ["q"], by: it.bobPublicly)
        #expect(try await it.subscriptionIDs(by: it.publicly) == ["q"])
        #expect(try await it.subscriptionIDs(by: it.bobPublicly) == [])
        #expect(try await it.subscriptionIDs(by: it.bobPrivately) == ["q"])
        let gone = try await it.modifySubscriptions([], deletes: ["q"], by: it.bobPublicly)
        #expect(gone == [.failed(.subscriptionMissing)])
    }

    @Test(arguments: EngineKind.allCases)
    func `a definition exists once, whatever its notifications say`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modifyZones(["other"])
        _ = try await it.modify([save("n1", ["title": .string("a")])])
        let definitions = [
            query("1", in: notes), query("2", in: ZoneID(zoneName: "other")), query("3"),
            query("4", isText("title", "a")), query("5", isText("title", "b")),
            query("6", firesOn: .creation), query("7", firesOn: [.creation, .once]), query("8", type: "Task"),
            zoneSubscription("9"), zoneSubscription("10", type: "Note"), databaseSubscription("11"),
            databaseSubscription("12", type: "Note"),
        ]
        let saved = try await it.modifySubscriptions(definitions)
        #expect(saved == definitions.map { .subscriptionSaved($0) })
        for definition in definitions {
            var other = Self.withInfo(definition, "hello")
            other.id = "other"
            let refused = try await it.modifySubscriptions([other])
            #expect(refused == [.failed(.subscriptionDuplicate(of: definition.id))])
            let again = Self.withInfo(definition, "hello")
            #expect(try await it.modifySubscriptions([again]) == [.subscriptionSaved(again)])
        }
        let owned = ZoneID(zoneName: "notes", ownerName: EngineUnderTest.alice)
        let named = try await it.modifySubscriptions([zoneSubscription("other", owned)])
        #expect(named == [.failed(.subscriptionDuplicate(of: "9"))])
        // One that is there may not become what another is; one that has gone is in nobody's way.
        let taken = try await it.modifySubscriptions([query("3", in: notes)])
        #expect(taken == [.failed(.subscriptionDuplicate(of: "1"))])
        _ = try await it.modifySubscriptions([], deletes: ["1"])
        let free = try await it.modifySubscriptions([query("3", in: notes), query("1")])
        #expect(free == [.subscriptionSaved(query("3", in: notes)), .subscriptionSaved(query("1"))])
        let twins = try await it.modifySubscriptions([query("x", type: "X"), query("y", type: "X")])
        #expect(twins[1] == .failed(.subscriptionDuplicate(of: "x")))
    }

    @Test(arguments: EngineKind.allCases)
    func `what may not be is refused, each by itself`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let fields: [String: FieldValue] = ["title": .string("a"), "data": .bytes([1]), "n": .int64(1)]
        _ = try await it.modify([save("n1", fields)])
        _ = try await it.modify([save("p1", in: .default, fields)], by: it.publicly)
        var badField = query("ok")
        badField.info = NotificationInfo()
        badField.info?.desiredKeys = ["not a name"]
        let absent = ZoneID(zoneName: "absent")
        let bobs = ZoneID(zoneName: "notes", ownerName: EngineUnderTest.bob)
        let before = Comparison(
            field: "title",
            comparator: .near,
            operand: .location(Location(latitude: 0, longitude: 0))
        )
        let table: [(Subscription, StoreError)] = [
            (query(""), .nameInvalid(.subscription)), (query("ä"), .nameInvalid(.subscription)),
            (query(String(repeating: "x", count: 256)), .nameInvalid(.subscription)),
            (query("a", type: ""), .nameInvalid(.recordType)),
            (query("a", type: "1"), .nameInvalid(.recordType)),
            (query("a", type: "Users"), .systemTypeQuery), (badField, .nameInvalid(.field)),
            (query("a", in: absent), .zoneMissing), (query("a", in: bobs), .zoneMissing),
            (query("a", in: ZoneID(zoneName: "_x")), .nameInvalid(.zone)),
            (query("a", isText("none", "")), .fieldUnknown(field: "none")),
            (query("a", isText("data", "")), .fieldNotQueryable(field: "data")),
            (query("a", type: "Unknown", isText("title", "")), .fieldUnknown(field: "title")),
            (
                query("a", isText("n", "")),
                .operandTypeMismatch(field: "n", given: .string, defined: .int64)
            ),
            (
                query("a", .comparison(before)),
                .comparatorMismatch(field: "title", comparator: .near, defined: .string)
            ),
            (zoneSubscription("a", .default), .subscriptionZoneNotAllowed),
            (zoneSubscription("a", absent), .zoneMissing), (zoneSubscription("a", bobs), .zoneMissing),
            (zoneSubscription("a", type: "1"), .nameInvalid(.recordType)),
            (databaseSubscription("a", type: ""), .nameInvalid(.recordType)),
        ]
        let id = it.newRequestID()
        let saves = table.enumerated().map { number, row in
            var subscription = row.0
            if subscription.id == "a" { subscription.id = "a\(number)" }
            return subscription
        }
        let outcomes = try await it.modifySubscriptions(saves + [query("good")], id: id)
        for (outcome, row) in zip(outcomes, table) { #expect(outcome == .failed(row.1), "\(row.0)") }
        #expect(outcomes.last == .subscriptionSaved(query("good")))
        #expect(try await it.subscriptionIDs() == ["good"])
        #expect(try await it.modifySubscriptions(saves + [query("good")], id: id) == outcomes, "replayed")
        let publicly = try await it.modifySubscriptions(
            [query("q"), query("d", in: .default), zoneSubscription("z"), databaseSubscription("all")],
            by: it.publicly
        )
        #expect(
            publicly == [
                .subscriptionSaved(query("q")), .subscriptionSaved(query("d", in: .default)),
                .failed(.databaseNotAllowed), .failed(.databaseNotAllowed),
            ]
        )
    }

    @Test(arguments: EngineKind.allCases)
    func `a request is refused as a whole for its shape and for who sends it`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let one = query("q")
        for (saves, deletes) in [([one, one], []), ([one], ["q"]), ([], ["q", "q"])] {
            await #expect(throws: StoreError.duplicateSubscription) {
                try await it.modifySubscriptions(saves, deletes: deletes)
            }
        }
        let many = (0...400).map { "\($0)" }
        await #expect(throws: StoreError.tooManyItems(401)) {
            try await it.modifySubscriptions([], deletes: many)
        }
        let nobody = it.anonymously
        await #expect(throws: StoreError.notSignedIn) { try await it.modifySubscriptions([one], by: nobody) }
        await #expect(throws: StoreError.notSignedIn) { try await it.subscriptions(by: nobody) }
        #expect(try await it.subscriptionIDs() == [])
    }

    @Test(arguments: EngineKind.allCases)
    func `production knows the types that were deployed`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([save("n1", ["title": .string("a")])])
        try it.store.schemas.apply(.deploy, inContainer: EngineUnderTest.container)
        let requester = try it.requester(in: .production)
        let outcomes = try await it.modifySubscriptions(
            [
                query("a", isText("title", "x")), query("b", type: "Task"),
                databaseSubscription("c", type: "Task"), databaseSubscription("d"),
                databaseSubscription("e", type: "Note"), databaseSubscription("f", type: "Users"),
            ],
            by: requester
        )
        let refused = WriteOutcome.failed(.newTypeInProduction("Task"))
        #expect([1, 2].allSatisfy { outcomes[$0] == refused })
        #expect(try await it.subscriptionIDs(by: requester) == ["a", "d", "e", "f"])
    }

    @Test(arguments: EngineKind.allCases)
    func `they go with their zone`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modifyZones(["other"])
        let saves = [
            zoneSubscription("a"), query("b", in: notes), query("c"), databaseSubscription("d"),
            query("e", in: ZoneID(zoneName: "other")), query("f", in: .default),
        ]
        _ = try await it.modifySubscriptions(saves)
        _ = try await it.modifyZones([], deletes: ["notes"])
        #expect(try await it.subscriptionIDs() == ["c", "d", "e", "f"])
        _ = try await it.modifyZones(["notes"])
        #expect(try await it.subscriptionIDs() == ["c", "d", "e", "f"])
        #expect(try await it.modifySubscriptions([zoneSubscription("x")])[0].error == nil, "no duplicate")
        try it.store.schemas.apply(.resetDevelopment, inContainer: EngineUnderTest.container)
        #expect(try await it.subscriptionIDs() == ["c", "d"])
    }

    @Test(arguments: EngineKind.allCases)
    func `a replay executes nothing and says what was saved`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modifySubscriptions([query("old")])
        let id = it.newRequestID()
        let owned = ZoneID(zoneName: "notes", ownerName: EngineUnderTest.alice)
        let saves = [Self.withInfo(zoneSubscription("a", owned), "x"), query("b")]
        let first = try await it.modifySubscriptions(saves, deletes: ["old", "none"], id: id)
        #expect(first[0] == .subscriptionSaved(Self.withInfo(zoneSubscription("a"), "x")))
        #expect(first.dropFirst().first == .failed(.subscriptionDuplicate(of: "old")))
        _ = try await it.modifySubscriptions([query("old")], deletes: ["a"])
        #expect(try await it.modifySubscriptions(saves, deletes: ["old", "none"], id: id) == first)
        let last = try await it.reopened()
        #expect(try await last.modifySubscriptions(saves, deletes: ["old", "none"], id: id) == first)
        #expect(try await last.subscriptionIDs() == ["old"])
    }

    @Test(arguments: EngineKind.allCases)
    func `ten thousand are kept and one more is refused`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([save("n1", ["title": .string("a")])])
        let all = (0..<Bounds.subscriptionsMax).map { query("s\(100_000 + $0)", isText("title", "\($0)")) }
        for start in stride(from: 0, to: all.count, by: 400) {
            let outcomes = try await it.modifySubscriptions(Array(all[start..<start + 400]))
            #expect(outcomes.allSatisfy { $0.error == nil })
        }
        let more = [query("x", isText("title", "x")), query("y", isText("title", "77")), all[5]]
        #expect(
            try await it.modifySubscriptions(more) == [
                .failed(.subscriptionLimit), .failed(.subscriptionDuplicate(of: "s100077")),
                .subscriptionSaved(all[5]),
            ]
        )
        #expect(try await it.modifySubscriptions([more[0]], by: it.publicly)[0].error == nil)
        #expect(try await it.subscriptions() == all.map { .subscription($0) })
        #expect(try await it.startWatching().subscriptions.count == all.count + 1)
        _ = try await it.modifySubscriptions([], deletes: [all[7].id])
        let saved = try await it.modifySubscriptions([more[0], query("z")])
        #expect(saved == [.subscriptionSaved(more[0]), .failed(.subscriptionLimit)])
    }

    @Test(arguments: EngineKind.allCases)
    func `an answer has a bound`(kind: EngineKind) async throws {
        let it = try EngineUnderTest(kind) { $0.bounds.responseBytesMax = 500 }
        let saves = (0..<5).map {
            Self.withInfo(query("s\($0)", type: "T\($0)"), String(repeating: "x", count: 90))
        }
        _ = try await it.modifySubscriptions(saves)
        #expect(
            try await it.subscriptions(.ids(["s0", "s4"])) == [saves[0], saves[4]].map { .subscription($0) }
        )
        await #expect {
            _ = try await it.subscriptions()
        } throws: { error in
            guard case StoreError.responseTooLarge? = error as? StoreError else { return false }
            return true
        }
        #expect(try await it.subscriptions(.ids([])) == [])
    }
}
