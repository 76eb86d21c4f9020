import Foundation
import RecordModel
import Testing
import WireProtocol

@testable import CloudKit

private let placeholder = CKRecord.Reference(
    recordID: CKRecord.ID(recordName: CKCurrentUserDefaultName),
    action: .none
)

@Suite(.timeLimit(.minutes(10))) struct SubscriptionRequestTests {
    private func query(_ predicate: NSPredicate, id: String = "q") -> CKQuerySubscription {
        CKQuerySubscription(recordType: "Note", predicate: predicate, subscriptionID: id)
    }

    @Test func `saves come before deletes, and the user is named`() throws {
        let mine = self.query(NSPredicate(format: "creatorUserRecordID == %@", placeholder))
        let database = CKDatabaseSubscription(subscriptionID: "d")
        let request = try SubscriptionModification(
            saving: [mine, database],
            deleting: ["old"],
            scope: .private
        )
        let named = compare("___createdBy", .equals, reference("_me"))
        let expected = ModifySubscriptions(
            scope: .private,
            saves: [
                RecordModel.Subscription(
                    id: "q",
                    kind: .query(recordType: "Note", predicate: named, zone: nil, firesOn: .events)
                ),
                RecordModel.Subscription(id: "d", kind: .database(recordType: nil)),
            ],
            deletes: ["old"]
        )
        #expect(try request.operation(user: "_me") == .modifySubscriptions(expected))
        let answers = [
            request.result(of: Item(index: 0, outcome: .subscription(expected.saves[0])), user: "_me"),
            request.result(of: Item(index: 2, outcome: .deleted), user: "_me"),
        ]
        guard case .value("q", .success(let saved)) = answers[0] else { return #expect(Bool(false)) }
        #expect(saved === mine, "the user's own object comes back")
        guard case .deletion("old", .success) = answers[1] else { return #expect(Bool(false)) }
        #expect(request.result(of: Item(index: 3, outcome: .deleted), user: "_me") == nil)
    }

    @Test func `a subscription that is named twice fails the request`() {
        let one = CKDatabaseSubscription(subscriptionID: "d")
        for (saves, deletes) in [([one, one], []), ([one], ["d"]), ([], ["d", "d"])] {
            #expect {
                try SubscriptionModification(saving: saves, deleting: deletes, scope: .private)
            } throws: { code($0) == 12 }
        }
    }

    @available(*, deprecated)
    @Test func `without options a query subscription fires on all three`() {
        let all: CKQuerySubscription.Options = [
            .firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion,
        ]
        let any = NSPredicate(value: true)
        #expect(CKQuerySubscription(recordType: "Note", predicate: any).querySubscriptionOptions == all)
        let named = CKQuerySubscription(recordType: "Note", predicate: any, subscriptionID: "q")
        #expect(named.querySubscriptionOptions == all)
    }

    @Test func `a predicate that a query can't have fails its subscription alone`() async throws {
        let operation = CKModifySubscriptionsOperation(
            subscriptionsToSave: [
                self.query(NSPredicate(format: "a LIKE 'x'"), id: "like"),
                self.query(NSPredicate { _, _ in true }, id: "block"),
                CKQuerySubscription(
                    recordType: "",
                    predicate: NSPredicate(value: true),
                    subscriptionID: "none"
                ),
                CKQuerySubscription(
                    recordType: "Note",
                    predicate: NSPredicate(value: true),
                    subscriptionID: "silent",
                    options: .firesOnce
                ),
            ]
        )
        operation.database = CKContainer.unreachable().privateCloudDatabase
        let events = Events()
        operation.perSubscriptionSaveBlock = { id, result in
            guard case .failure(let error) = result else { return events.note("saved") }
            events.note("\(id) \(code(error))")
        }
        operation.modifySubscriptionsResultBlock = { result in
            guard case .failure(let error) = result else { return events.note("succeeded") }
            events.note("fails \(code(error))")
        }
        operation.modifySubscriptionsCompletionBlock = { saved, deleted, error in
            let errors = (error as? CKError)?.partialErrorsByItemID ?? [:]
            events.note(
                "completes \(saved?.count ?? -1) \(deleted?.count ?? -1) \(code(error)) \(errors.count)"
            )
        }
        await operation.finish()
        #expect(
            events.all == ["like 12", "block 12", "none 12", "silent 12", "succeeded", "completes 0 0 2 4"]
        )
    }

    @Test func `all subscriptions are of the kinds that the server says`() throws {
        let fetch = SubscriptionFetch(nil, scope: .private)
        #expect(
            try fetch.operation(user: "_me")
                == .fetchSubscriptions(FetchSubscriptions(scope: .private, selection: .all))
        )
        let zone = RecordModel.Subscription(id: "z", kind: .zone(ZoneID(zoneName: "a"), recordType: "Note"))
        guard
            case .value("z", .success(let subscription)) = fetch.result(
                of: Item(index: 7, outcome: .subscription(zone)),
                user: "_me"
            )
        else { return #expect(Bool(false)) }
        let made = try #require(subscription as? CKRecordZoneSubscription)
        #expect(made.zoneID == CKRecordZone.ID(zoneName: "a"))
        #expect(made.recordType == "Note")
    }

    @Test func `those with IDs are answered by number, each ID once`() throws {
        let fetch = SubscriptionFetch(["a", "b", "a"], scope: .public)
        #expect(fetch.itemCount == 2)
        #expect(
            try fetch.operation(user: "_me")
                == .fetchSubscriptions(FetchSubscriptions(scope: .public, selection: .ids(["a", "b"])))
        )
        let failure = Failure(code: .unknownItem, message: "gone", retry: .never)
        guard
            case .value("b", .failure(let error)) = fetch.result(
                of: Item(index: 1, outcome: .failure(failure)),
                user: "_me"
            )
        else { return #expect(Bool(false)) }
        #expect(code(error) == 11)
        #expect(fetch.result(of: Item(index: 2, outcome: .failure(failure)), user: "_me") == nil)
    }

    @Test func `nothing to do succeeds without a server`() async {
        let events = Events()
        let modify = CKModifySubscriptionsOperation()
        modify.modifySubscriptionsCompletionBlock = {
            events.note("modify \($0?.count ?? -1) \($1?.count ?? -1) \(code($2))")
        }
        let fetch = CKFetchSubscriptionsOperation(subscriptionIDs: [])
        fetch.fetchSubscriptionCompletionBlock = { events.note("fetch \($0?.count ?? -1) \(code($1))") }
        fetch.fetchSubscriptionsResultBlock = { if case .success = $0 { events.note("result") } }
        for operation in [modify, fetch] {
            operation.database = CKContainer.unreachable().privateCloudDatabase
            await operation.finish()
        }
        #expect(events.all == ["modify 0 0 0", "result", "fetch 0 0"])
    }
}

@Suite struct PredicateFromServerTests {
    /// Everything that a format can ask.
    static let formats = [
        "TRUEPREDICATE", "FALSEPREDICATE", "a == 1", "a != 'x'", "a < 1.5", "a <= 1", "a > 1", "a >= 1",
        "a IN {1, 2}", "NOT a IN {'x'}", "a BEGINSWITH 'x'", "NOT a BEGINSWITH 'x'", "a CONTAINS 'x'",
        "NOT a CONTAINS 'x'", "ANY a IN {'x', 'y'}", "NOT ANY a IN {'x', 'y'}", "ANY a BEGINSWITH 'x'",
        "NOT ANY a BEGINSWITH 'x'", "self CONTAINS 'some words'", "a TOKENMATCHES[cdl] 'words'",
        "ALL tokenize('some words', 'Cdl') IN allTokens", "creationDate > CAST(12.5, \"NSDate\")",
        "modificationDate < CAST(12.5, \"NSDate\")", "recordID == 'r'", "parent == 'r'",
        "creatorUserRecordID == 'r'", "lastModifiedUserRecordID == 'r'", "a == 1 AND (b == 2 OR c == 3)",
        "___etag == 'x'", "a IN {}",
    ]

    @Test(arguments: formats) func `asks the same again`(format: String) throws {
        let model = try asked(NSPredicate(format: format))
        #expect(try asked(.made(of: model)) == model)
    }

    @Test func `asks the same distance again`() throws {
        let place = CLLocation(latitude: 1, longitude: 2)
        let format = "distanceToLocation:fromLocation:(place, %@) < %f"
        let model = try asked(NSPredicate(format: format, place, 12.5))
        #expect(try asked(.made(of: model)) == model)
    }

    @Test func `says what no format can ask, and is refused`() {
        for comparator in [RecordModel.Comparator.listContainsAll, .notListContainsAll] {
            let predicate = NSPredicate.made(of: compare("a", comparator, .stringList(["x", "y"])))
            #expect(refusal(predicate) != nil)
            #expect(predicate.description.hasSuffix("ALL {\"x\", \"y\"} IN a"))
        }
    }

    @Test func `is Foundation's own where all records are meant`() {
        #expect(NSPredicate.made(of: .all) == NSPredicate(value: true))
    }

    @Test(arguments: RecordModel.Comparator.allCases)
    func `is made of every comparator`(comparator: RecordModel.Comparator) {
        #expect(!NSPredicate.made(of: compare("a", comparator, .string("x"))).description.isEmpty)
    }
}
