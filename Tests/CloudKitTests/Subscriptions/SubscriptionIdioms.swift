// Compiled, not run: subscriptions and notifications in the forms that published code has them in.
import CloudKit

final class SubscriptionIdioms {
    let database = CKContainer(identifier: "iCloud.org.example").privateCloudDatabase
    private var saved = Set<CKSubscription.ID>()

    func subscribe() {
        let subscription = CKDatabaseSubscription(subscriptionID: "private-changes")
        let info = CKSubscription.NotificationInfo()
        info.shouldSendContentAvailable = true
        info.alertBody = ""
        subscription.notificationInfo = info
        let operation = CKModifySubscriptionsOperation(
            subscriptionsToSave: [subscription],
            subscriptionIDsToDelete: []
        )
        operation.modifySubscriptionsCompletionBlock = { [weak self] subscriptions, deleted, error in
            guard error == nil else { return print(error!.localizedDescription) }
            self?.saved.formUnion(subscriptions?.map(\.subscriptionID) ?? [])
            print(deleted?.count ?? 0)
        }
        operation.modifySubscriptionsResultBlock = { result in
            if case .failure(let error) = result { print(error) }
        }
        operation.perSubscriptionSaveBlock = { id, result in print(id, result) }
        operation.perSubscriptionDeleteBlock = { id, result in print(id, result) }
        operation.qualityOfService = .utility
        self.database.add(operation)
        let fetch = CKFetchSubscriptionsOperation(subscriptionIDs: ["private-changes"])
        fetch.fetchSubscriptionCompletionBlock = { subscriptions, _ in
            print(subscriptions?["private-changes"] as Any)
        }
        fetch.perSubscriptionResultBlock = { id, result in print(id, result) }
        self.database.add(fetch)
        let all = CKFetchSubscriptionsOperation.fetchAllSubscriptionsOperation()
        all.fetchSubscriptionsResultBlock = { _ in }
        all.database = self.database
        OperationQueue().addOperation(all)
    }

    func query(_ zoneID: CKRecordZone.ID) -> [CKSubscription] {
        let query = CKQuerySubscription(
            recordType: "Note",
            predicate: NSPredicate(format: "TRUEPREDICATE"),
            subscriptionID: "notes",
            options: [.firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion]
        )
        query.zoneID = zoneID
        let info = CKNotificationInfo()
        info.alertLocalizationKey = "NEW"
        info.alertLocalizationArgs = ["title"]
        info.desiredKeys = ["title"]
        info.soundName = "default"
        info.shouldBadge = true
        info.category = "note"
        query.notificationInfo = info
        let options: CKQuerySubscription.Options = .init(rawValue: 1)
        return [
            query, CKRecordZoneSubscription(zoneID: zoneID, subscriptionID: "zone"),
            CKQuerySubscription(
                recordType: "Note",
                predicate: NSPredicate(value: true),
                subscriptionID: UUID().uuidString,
                options: options
            ),
        ]
    }

    func handlers(_ subscription: CKSubscription) {
        self.database.save(subscription) { subscription, error in
            print(subscription?.subscriptionID ?? "", (error as? CKError)?.code ?? .internalError)
        }
        self.database.fetchAllSubscriptions { subscriptions, error in
            for subscription in subscriptions ?? [] where subscription.subscriptionType == .query {
                print(subscription, error as Any)
            }
        }
        self.database.fetch(withSubscriptionID: "a") { subscription, error in
            print((subscription as? CKDatabaseSubscription)?.recordType as Any, error as Any)
        }
        self.database.delete(withSubscriptionID: "a") { id, error in print(id ?? "", error as Any) }
        self.database.fetch(withSubscriptionIDs: ["a"]) { result in print(result) }
        self.database.modifySubscriptions(saving: [subscription], deleting: []) { result in
            if case .success(let (saveResults, deleteResults)) = result { print(saveResults, deleteResults) }
        }
    }

    func asynchronously(_ subscription: CKSubscription) async throws {
        let database = CKContainer(identifier: "iCloud.org.example").privateCloudDatabase
        let saved = try await database.save(subscription)
        let found = try await database.subscription(for: saved.subscriptionID)
        try await database.deleteSubscription(withID: found.subscriptionID)
        print(try await database.allSubscriptions().map(\.subscriptionID))
        print(try await database.subscriptions(for: ["a"])["a"] as Any)
        let (saveResults, deleteResults) = try await database.modifySubscriptions(
            saving: [subscription],
            deleting: ["b"]
        )
        for (_, result) in saveResults { _ = try result.get() }
        for (_, result) in deleteResults { try result.get() }
    }

    func received(_ userInfo: [AnyHashable: Any]) -> String? {
        guard let notification = CKNotification(fromRemoteNotificationDictionary: userInfo) else {
            return nil
        }
        guard notification.subscriptionID == "private-changes" else { return nil }
        switch notification.notificationType {
        case .database:
            return (notification as? CKDatabaseNotification)?.databaseScope == .private ? "d" : nil
        case .recordZone: return (notification as! CKRecordZoneNotification).recordZoneID?.zoneName
        case .query:
            guard let query = notification as? CKQueryNotification, let id = query.recordID else {
                return nil
            }
            switch query.queryNotificationReason {
            case .recordCreated, .recordUpdated: return query.recordFields?["title"] as? String
            case .recordDeleted: return id.recordName
            @unknown default: return nil
            }
        case .readNotification: return nil
        @unknown default: return nil
        }
    }

    func older(_ remote: [String: NSObject]) -> CKQueryNotification? {
        CKQueryNotification(fromRemoteNotificationDictionary: remote)
    }
}
