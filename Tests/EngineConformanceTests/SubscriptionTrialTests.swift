import RecordModel
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance
@testable import RecordStore

/// Dry runs of subscriptions over the last changes.
@Suite(.timeLimit(.minutes(10)))
struct SubscriptionTrialTests {
    @Test(arguments: EngineKind.allCases)
    func `the last changes are told with verdicts, the newest first`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([
            save("a", ["title": .string("x")]), save("b", ["title": .string("x")]),
            save("c", ["title": .string("y")]), save("d", type: "Task", ["title": .string("x")]),
        ])
        _ = try await it.modify([save("b", ["title": .string("z")])], policy: .changedKeys)
        _ = try await it.modify([save("a", ["other": .string("1")])], policy: .changedKeys)
        _ = try await it.modify([], deletes: [id("c")])
        let asked = query("q", isText("title", "x"), in: notes)
        let trial = try await Self.trial(it, asked, of: notes)
        #expect(
            Self.words(trial) == [
                "-c unknown: The record is gone, so its condition cannot be tested.",
                "a fires: The record meets its condition, and the last change was an update.",
                "b doesNotFire: The record does not meet its condition.",
                "+d doesNotFire: It is about records of type 'Note'.",
            ]
        )
        #expect(trial.isComplete)
        #expect(trial.recordsRead == 3)
        #expect(trial.changesRead >= 4)
        #expect(trial.comparisons > 0)
        let creations = query("q", isText("title", "x"), in: notes, firesOn: [.creation])
        #expect(
            Self.words(try await Self.trial(it, creations, of: notes)) == [
                "-c doesNotFire: The record was deleted, for which it does not fire.",
                "a doesNotFire: The last change was an update of the record, for which it does not fire.",
                "b doesNotFire: The last change was an update of the record, for which it does not fire.",
                "+d doesNotFire: It is about records of type 'Note'.",
            ]
        )
        let all = try await Self.trial(it, query("q"), of: nil)
        #expect(all.lines.first?.verdict == .fires, "without a condition a deletion fires it")
        let zone = try await Self.trial(it, zoneSubscription("z", type: "Task"), of: notes)
        #expect(zone.lines.map(\.verdict) == [.doesNotFire, .doesNotFire, .doesNotFire, .fires])
        let elsewhere = try await Self.trial(it, zoneSubscription("z", ZoneID(zoneName: "other")), of: notes)
        #expect(elsewhere.lines.allSatisfy { $0.why == "It is about the zone 'other'." })
    }

    @Test(arguments: EngineKind.allCases)
    func `verdicts are those of the explanation of each record`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let all = [
            query("1", isText("title", "x"), in: notes), query("2", firesOn: .creation),
            query("3", firesOn: [.update]), zoneSubscription("4"), databaseSubscription("5", type: "Task"),
        ]
        _ = try await it.modify([save("first", ["title": .string("x")]), save("t", type: "Task")])
        _ = try await it.modifySubscriptions(all)
        _ = try await it.modify([save("a", ["title": .string("x")]), save("b", ["title": .string("y")])])
        _ = try await it.modify(
            [save("first", ["title": .string("y")]), save("t", type: "Task", ["n": .string("1")])],
            policy: .changedKeys
        )
        for subscription in all {
            let trial = try await Self.trial(it, subscription, of: notes)
            #expect(trial.lines.count == 4)
            for line in trial.lines {
                let explained = try await it.explanation(of: line.id)
                let match = explained.matches.first { $0.subscriptionID == subscription.id }
                #expect((line.verdict == .fires) == match?.isMatch, "\(subscription.id) \(line.id)")
                #expect(line.why == match?.why, "\(subscription.id) \(line.id)")
                #expect(line.position == explained.position)
            }
        }
    }

    @Test(arguments: EngineKind.allCases)
    func `a run goes back as far as it has to, past other zones and stale changes`(
        kind: EngineKind
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modifyZones(["busy"])
        _ = try await it.modify((0..<5).map { save("n\($0)") })
        let busy = ZoneID(zoneName: "busy")
        _ = try await it.modify([save("one", in: busy)])
        for round in 0..<200 {
            _ = try await it.modify(
                [save("one", in: busy, ["round": .string("\(round)")])],
                policy: .changedKeys
            )
        }
        let quiet = try await Self.trial(it, zoneSubscription("z"), of: notes, limit: 3)
        #expect(quiet.lines.map(\.id.recordName) == ["n4", "n3", "n2"])
        #expect(!quiet.isComplete)
        let whole = try await Self.trial(it, zoneSubscription("z"), of: notes, limit: 5)
        #expect(whole.lines.count == 5)
        let everywhere = try await Self.trial(it, databaseSubscription("d"), of: nil, limit: 3)
        #expect(everywhere.lines.map(\.id.recordName) == ["one", "n4", "n3"])
        #expect(everywhere.lines.map(\.id.zone.zoneName) == ["busy", "notes", "notes"])
        #expect(everywhere.changesRead <= SubscriptionTrialExecution.readsMax)
        let bounded = try await Self.trial(it, zoneSubscription("z"), of: notes, limit: .max)
        #expect(bounded.isComplete && bounded.lines.count == 5)
    }

    @Test(arguments: EngineKind.allCases)
    func `in the public database the rights of the user count`(kind: EngineKind) async throws {
        let it = try EngineUnderTest(kind)
        _ = try await it.modify([save("hers", in: .default, type: "Secret")], by: it.publicly)
        _ = try await it.modify([save("his", in: .default, type: "Secret")], by: it.bobPublicly)
        let text = """
            DEFINE SCHEMA
            RECORD TYPE Secret (
                "___recordID" REFERENCE QUERYABLE,
                GRANT CREATE TO "_icloud", GRANT READ, WRITE TO "_creator"
            );
            """
        _ = try it.store.schemas.apply(
            .replaceDevelopment(SchemaParser.parse(text)),
            inContainer: EngineUnderTest.container
        )
        let asked = query("q", type: "Secret")
        let hers = try await Self.trial(it, asked, of: .default, by: it.publicly)
        #expect(Self.verdicts(hers) == [.doesNotFire, .fires])
        #expect(hers.lines.first?.why == "Its user may not read the record.")
        var asOperator = it.bobPublicly
        asOperator.isOperator = true
        let his = try await Self.trial(it, asked, of: .default, by: asOperator)
        #expect(Self.verdicts(his) == [.fires, .doesNotFire], "not those of an operator")
    }

    @Test(arguments: EngineKind.allCases)
    func `a subscription that could not be saved is refused, and one that was saved says since when`(
        kind: EngineKind
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([save("a")])
        await #expect(throws: StoreError.databaseNotAllowed) {
            try await Self.trial(it, zoneSubscription("z"), of: .default, by: it.publicly)
        }
        await #expect(throws: StoreError.databaseNotAllowed) {
            try await Self.trial(it, databaseSubscription("z"), of: nil, by: it.bobShared)
        }
        await #expect(throws: StoreError.zoneMissing) {
            try await Self.trial(it, query("q"), of: ZoneID(zoneName: "none"))
        }
        await #expect(throws: StoreError.notSignedIn) {
            try await Self.trial(it, query("q"), of: .default, by: it.anonymously)
        }
        await #expect(throws: StoreError.self) {
            try await Self.trial(it, query("q", isText("absent", "x")), of: notes)
        }
        await #expect(throws: StoreError.self) {
            try await Self.trial(it, query("q", type: UserRecord.type), of: notes)
        }
        _ = try await it.modifySubscriptions([zoneSubscription("z")])
        _ = try await it.modify([save("b")])
        let report = try it.store.subscriptionReport(for: it.privately)
        let saved = try #require(report.lines.first)
        #expect(saved.owner == EngineUnderTest.alice)
        let trial = try await Self.trial(
            it,
            saved.subscription,
            savedAt: saved.savedPosition,
            of: notes
        )
        #expect(trial.lines.map(\.verdict) == [.fires, .fires])
        #expect(
            trial.lines.map(\.why) == [
                "Every change there fires it.",
                "Every change there fires it. The subscription was saved after this change.",
            ]
        )
    }

    @Test(arguments: EngineKind.allCases)
    func `an operator sees the subscriptions of all users, with their listeners`(
        kind: EngineKind
    ) async throws {
        let it = try EngineUnderTest(kind)
        _ = try await it.modify([save("a", in: .default)], by: it.publicly)
        _ = try await it.modifySubscriptions([query("hers")], by: it.publicly)
        _ = try await it.modifySubscriptions([query("his")], by: it.bobPublicly)
        var operatorOfAll = it.anonymously
        operatorOfAll.isOperator = true
        let report = try it.store.subscriptionReport(for: operatorOfAll)
        #expect(
            Set(report.lines.map { "\($0.owner) \($0.subscription.id)" })
                == ["\(EngineUnderTest.alice) hers", "\(EngineUnderTest.bob) his"]
        )
        #expect(!report.isTruncated)
        #expect(try it.store.subscriptionReport(for: it.publicly).lines.map(\.subscription.id) == ["hers"])
        // An operator who looks as nobody has none of their own.
        #expect(try it.store.subscriptionReport(for: it.anonymously).lines.isEmpty)
    }

    // MARK: Words

    private static func trial(
        _ it: EngineUnderTest,
        _ subscription: RecordModel.Subscription,
        savedAt position: Int64? = nil,
        of zone: ZoneID?,
        limit: Int = 100,
        by requester: Requester? = nil
    ) async throws(StoreError) -> SubscriptionTrial {
        let read = SubscriptionTrialRead(subscription, savedPosition: position, zone: zone, limit: limit)
        let result = await withCheckedContinuation { continuation in
            it.store.tryOut(read, for: requester ?? it.privately) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }

    /// The verdicts on records of one type: user records are changed as well.
    private static func verdicts(_ trial: SubscriptionTrial) -> [SubscriptionTrial.Verdict] {
        trial.lines.filter { $0.recordType == "Secret" }.map(\.verdict)
    }

    private static func words(_ trial: SubscriptionTrial) -> [String] {
        trial.lines.map { line in
            let sign =
                switch line.event {
                case .creation: "+"
                case .update: ""
                case .deletion: "-"
                }
            return "\(sign)\(line.id.recordName) \(line.verdict): \(line.why)"
        }
    }
}
