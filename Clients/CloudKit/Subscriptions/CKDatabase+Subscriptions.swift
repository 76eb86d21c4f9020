// Subscriptions in batches.
extension CKDatabase {
    /// Fetches subscriptions; see `subscriptions(for:)`.
    ///
    /// - Parameters:
    ///   - subscriptionIDs: At most 400 IDs; one that is named several times is fetched once.
    ///   - completionHandler: Called once, on a queue of its own, with a result for each ID, or
    ///     with the error of the whole request.
    @preconcurrency public func fetch(
        withSubscriptionIDs subscriptionIDs: [CKSubscription.ID],
        completionHandler:
            @escaping @Sendable (
                Result<[CKSubscription.ID: Result<CKSubscription, any Error>], any Error>
            ) -> Void
    ) {
        self.deliver({ SubscriptionFetch(subscriptionIDs, scope: $0) }) { results in
            completionHandler(results.map(\.values))
        }
    }

    /// Fetches subscriptions.
    ///
    /// - Parameter ids: At most 400 IDs; one that is named several times is fetched once.
    /// - Returns: A result for each ID; `unknownItem` if there is no such subscription.
    /// - Throws: `CKError` of the whole request: `limitExceeded` above 400 IDs; `notAuthenticated`
    ///   (sign in: only users have subscriptions); `requestRateLimited`, `serviceUnavailable` or
    ///   `networkFailure` (repeat later).
    public func subscriptions(
        for ids: [CKSubscription.ID]
    ) async throws -> [CKSubscription.ID: Result<CKSubscription, any Error>] {
        try await self.results { SubscriptionFetch(ids, scope: $0) }.values
    }

    /// Saves and deletes subscriptions; see `CKModifySubscriptionsOperation`.
    ///
    /// - Parameters:
    ///   - subscriptionsToSave: The subscriptions to save; at most 400 items with the deletions.
    ///   - subscriptionIDsToDelete: The IDs of the subscriptions to delete; none that is also
    ///     saved.
    ///   - completionHandler: Called once, on a queue of its own, with a result for each item, or
    ///     with the error of the whole request.
    @preconcurrency public func modifySubscriptions(
        saving subscriptionsToSave: [CKSubscription],
        deleting subscriptionIDsToDelete: [CKSubscription.ID],
        completionHandler:
            @escaping @Sendable (
                Result<
                    (
                        saveResults: [CKSubscription.ID: Result<CKSubscription, any Error>],
                        deleteResults: [CKSubscription.ID: Result<Void, any Error>]
                    ), any Error
                >
            ) -> Void
    ) {
        self.deliver { scope throws(CKError) in
            try SubscriptionModification(
                saving: subscriptionsToSave,
                deleting: subscriptionIDsToDelete,
                scope: scope
            )
        } to: { results in
            completionHandler(results.map { (saveResults: $0.values, deleteResults: $0.deletions) })
        }
    }

    /// Saves and deletes subscriptions; see `CKModifySubscriptionsOperation`.
    ///
    /// - Parameters:
    ///   - subscriptionsToSave: The subscriptions to save; at most 400 items with the deletions.
    ///   - subscriptionIDsToDelete: The IDs of the subscriptions to delete; none that is also
    ///     saved.
    /// - Returns: A result for each item; see `save(_:)` and `deleteSubscription(withID:)` for its
    ///   errors.
    /// - Throws: `CKError` of the whole request: `invalidArguments` for a subscription that is
    ///   named twice; `limitExceeded` above 400 items; `notAuthenticated` (sign in: only users have
    ///   subscriptions); `requestRateLimited`, `serviceUnavailable` or `networkFailure` (repeat
    ///   later).
    @discardableResult
    public func modifySubscriptions(
        saving subscriptionsToSave: [CKSubscription],
        deleting subscriptionIDsToDelete: [CKSubscription.ID]
    ) async throws -> (
        saveResults: [CKSubscription.ID: Result<CKSubscription, any Error>],
        deleteResults: [CKSubscription.ID: Result<Void, any Error>]
    ) {
        let results = try await self.results { scope throws(CKError) in
            try SubscriptionModification(
                saving: subscriptionsToSave,
                deleting: subscriptionIDsToDelete,
                scope: scope
            )
        }
        return (saveResults: results.values, deleteResults: results.deletions)
    }
}
