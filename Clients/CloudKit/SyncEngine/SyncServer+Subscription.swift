extension SyncServer {
    /// The ID of the subscription that engines save if an app names none: the same for all, so that
    /// two of them save one.
    static let subscriptionIDOfEngines = "CKSyncEngine"

    /// Makes sure that the user has a subscription to the database.
    func subscribe() async throws {
        if let id = self.subscriptionID {
            switch try await self.database.results({ SubscriptionFetch([id], scope: $0) }).onlyValue {
            case .success(let subscription as CKDatabaseSubscription) where subscription.recordType == nil:
                return
            case .success: break
            case .failure(let error as CKError) where error.code == .unknownItem: break
            case .failure(let error): throw error
            }
        } else {
            let isThere = try await self.database.allSubscriptions().contains {
                ($0 as? CKDatabaseSubscription).map { $0.recordType == nil } ?? false
            }
            if isThere { return }
        }
        let subscription = CKDatabaseSubscription(
            subscriptionID: self.subscriptionID ?? Self.subscriptionIDOfEngines
        )
        let info = CKSubscription.NotificationInfo()
        info.shouldSendContentAvailable = true
        subscription.notificationInfo = info
        do {
            try await self.database.save(subscription)
        } catch let error as CKError where error.code == .serverRejectedRequest {
            // A subscription with the same definition and another ID serves as well.
        }
    }
}
