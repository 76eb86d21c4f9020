import CloudKit
import CloudKitTesting
import Foundation
import Testing

/// Subscriptions through the SDK, over TLS, against the real server.
@Suite(.timeLimit(.minutes(10)))
struct SubscriptionTests {
    private static func info(_ alert: String) -> CKSubscription.NotificationInfo {
        let info = CKSubscription.NotificationInfo()
        info.alertBody = alert
        info.desiredKeys = ["title"]
        info.shouldBadge = true
        return info
    }

    /// One of each kind; the query asks for the user's own records with a title.
    private static func all(_ desk: Desk) -> [CKSubscription] {
        let predicate = NSPredicate(
            format: "title == %@ AND creatorUserRecordID == %@",
            "tea",
            CKRecord.Reference(
                recordID: CKRecord.ID(recordName: CKCurrentUserDefaultName),
                action: .none
            )
        )
        let query = CKQuerySubscription(
            recordType: "Note",
            predicate: predicate,
            subscriptionID: "query",
            options: [.firesOnRecordCreation, .firesOnRecordUpdate, .firesOnce]
        )
        query.zoneID = desk.zone
        let zone = CKRecordZoneSubscription(zoneID: desk.zone, subscriptionID: "zone")
        zone.recordType = "Note"
        return [query, zone, CKDatabaseSubscription(subscriptionID: "database")]
    }

    /// `___createdBy` has an index only where a schema says so.
    private static let schema = """
        DEFINE SCHEMA RECORD TYPE Note (
            "___createdBy" REFERENCE QUERYABLE, title STRING QUERYABLE,
            GRANT WRITE TO "_creator", GRANT CREATE TO "_icloud", GRANT READ TO "_world");
        """

    @Test func `subscriptions are saved, fetched and deleted, over a restart of the server`() async throws {
        try await Desk.run { desk in
            try await desk.server.importSchema(Self.schema)
            let all = Self.all(desk)
            for subscription in all { subscription.notificationInfo = Self.info(subscription.subscriptionID) }
            let results = try await desk.database.modifySubscriptions(saving: all, deleting: [])
            for subscription in all {
                #expect(try results.saveResults[subscription.subscriptionID]?.get() === subscription)
            }
            try await desk.server.restart()
            let fetched = try await desk.database.allSubscriptions()
                .sorted { $0.subscriptionID < $1.subscriptionID }
            #expect(fetched.map(\.subscriptionID) == ["database", "query", "zone"])
            let zone = try #require(fetched[2] as? CKRecordZoneSubscription)
            #expect(zone == all[1] && zone.zoneID == desk.zone && zone.recordType == "Note")
            #expect(zone.notificationInfo?.alertBody == "zone")
            let query = try #require(fetched[1] as? CKQuerySubscription)
            #expect(
                query.querySubscriptionOptions == [
                    .firesOnRecordCreation, .firesOnRecordUpdate, .firesOnce,
                ]
            )
            #expect(query.zoneID == desk.zone && query.recordType == "Note")
            // What was fetched can be saved: it asks the same, and is no duplicate of itself.
            query.notificationInfo = Self.info("again")
            try await desk.database.save(query)
            let again = try await desk.database.subscription(for: "query")
            #expect(again == query && again.notificationInfo?.alertBody == "again")
            #expect(try await desk.database.deleteSubscription(withID: "zone") == "zone")
            let some = try await desk.database.subscriptions(for: ["zone", "database"])
            #expect(some["zone"]?.cloudKitError?.code == .unknownItem)
            #expect(try some["database"]?.get() == all[2])
        }
    }

    @Test func `operations report each subscription, and those that fail by themselves`() async throws {
        try await Desk.run { desk in
            let good = CKDatabaseSubscription(subscriptionID: "good")
            let twin = CKDatabaseSubscription(subscriptionID: "twin")
            let lost = CKRecordZoneSubscription(
                zoneID: CKRecordZone.ID(zoneName: "lost"),
                subscriptionID: "lost"
            )
            let main = CKRecordZoneSubscription(zoneID: .default, subscriptionID: "main")
            let operation = CKModifySubscriptionsOperation(
                subscriptionsToSave: [good, twin, lost, main],
                subscriptionIDsToDelete: ["none"]
            )
            let codes = Collected<String>()
            operation.perSubscriptionSaveBlock = { id, result in
                codes.append("\(id) \(result.cloudKitError?.code.rawValue ?? 0)")
            }
            operation.perSubscriptionDeleteBlock = { id, result in
                codes.append("\(id) \(result.cloudKitError?.code.rawValue ?? 0)")
            }
            let error = await thrown {
                try await withCheckedThrowingContinuation {
                    (continuation: CheckedContinuation<Void, any Error>) in
                    operation.modifySubscriptionsCompletionBlock = { _, _, error in
                        continuation.resume(with: error.map { .failure($0) } ?? .success(()))
                    }
                    desk.database.add(operation)
                }
            }
            #expect(error?.code == .partialFailure)
            #expect(codes.values.sorted() == ["good 0", "lost 26", "main 12", "none 11", "twin 15"])
            let refused = error?.partialErrorsByItemID?["twin"] as? CKError
            #expect(refused?.localizedDescription.contains("subscription is duplicate of 'good'") == true)
            let fetch = CKFetchSubscriptionsOperation.fetchAllSubscriptionsOperation()
            let found = Collected<String>()
            fetch.perSubscriptionResultBlock = { id, _ in found.append(id) }
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Void, any Error>) in
                fetch.fetchSubscriptionsResultBlock = { continuation.resume(with: $0) }
                desk.database.add(fetch)
            }
            #expect(found.values == ["good"])
        }
    }

    @Test func `public databases have queries alone, and need somebody who is signed in`() async throws {
        try await Desk.run { desk in
            let database = desk.container.publicCloudDatabase
            let query = CKQuerySubscription(
                recordType: "Note",
                predicate: NSPredicate(value: true),
                subscriptionID: "query"
            )
            try await database.save(query)
            await expect(.badDatabase) {
                try await database.save(CKDatabaseSubscription(subscriptionID: "database"))
            }
            let bob = try await desk.server.container(for: "bob").publicCloudDatabase
            #expect(try await bob.allSubscriptions().isEmpty)
            let nobody = try await desk.server.anonymousContainer().publicCloudDatabase
            await expect(.notAuthenticated) { _ = try await nobody.allSubscriptions() }
            await expect(.notAuthenticated) { try await nobody.save(query) }
        }
    }

    @Test func `a subscription goes with its zone`() async throws {
        try await Desk.run { desk in
            try await desk.database.save(
                CKRecordZoneSubscription(zoneID: desk.zone, subscriptionID: "zone")
            )
            try await desk.database.save(CKDatabaseSubscription(subscriptionID: "database"))
            try await desk.database.deleteRecordZone(withID: desk.zone)
            #expect(try await desk.database.allSubscriptions().map(\.subscriptionID) == ["database"])
        }
    }
}
