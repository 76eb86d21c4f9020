// One subscription at a time, and all of them.
extension CKDatabase {
    /// Fetches all subscriptions that the user has in the database.
    ///
    /// In no particular order.
    @preconcurrency public func fetchAllSubscriptions(
        completionHandler: @escaping @Sendable ([CKSubscription]?, (any Error)?) -> Void
    ) {
        self.deliver({ SubscriptionFetch(nil, scope: $0) }) { results in
            results.map { $0.values.values.compactMap { try? $0.get() } }.tell(completionHandler)
        }
    }

    /// All subscriptions that the user has in the database.
    ///
    /// In no particular order.
    public func allSubscriptions() async throws -> [CKSubscription] {
        try await self.results { SubscriptionFetch(nil, scope: $0) }.values.values
            .compactMap { try? $0.get() }
    }

    /// Fetches a subscription.
    ///
    /// Missing: `unknownItem`.
    @preconcurrency public func fetch(
        withSubscriptionID subscriptionID: CKSubscription.ID,
        completionHandler: @escaping @Sendable (CKSubscription?, (any Error)?) -> Void
    ) {
        self.deliver({ SubscriptionFetch([subscriptionID], scope: $0) }) { results in
            results.flatMap(\.onlyValue).tell(completionHandler)
        }
    }

    /// The subscription.
    ///
    /// Missing: `unknownItem`.
    public func subscription(for subscriptionID: CKSubscription.ID) async throws -> CKSubscription {
        try await self.results { SubscriptionFetch([subscriptionID], scope: $0) }.onlyValue.get()
    }

    /// Saves a subscription, in place of one with its ID; see `CKModifySubscriptionsOperation`.
    @preconcurrency public func save(
        _ subscription: CKSubscription,
        completionHandler: @escaping @Sendable (CKSubscription?, (any Error)?) -> Void
    ) {
        self.deliver {
            scope throws(CKError) in
            try SubscriptionModification(saving: [subscription], deleting: [], scope: scope)
        } to: { results in
            results.flatMap(\.onlyValue).tell(completionHandler)
        }
    }

    /// Saves a subscription, in place of one with its ID; see `CKModifySubscriptionsOperation`.
    @discardableResult
    public func save(_ subscription: CKSubscription) async throws -> CKSubscription {
        try await self.results { scope throws(CKError) in
            try SubscriptionModification(saving: [subscription], deleting: [], scope: scope)
        }.onlyValue.get()
    }

    /// Deletes a subscription.
    ///
    /// Missing: `unknownItem`.
    @preconcurrency public func delete(
        withSubscriptionID subscriptionID: CKSubscription.ID,
        completionHandler: @escaping @Sendable (String?, (any Error)?) -> Void
    ) {
        self.deliver {
            scope throws(CKError) in
            try SubscriptionModification(saving: [], deleting: [subscriptionID], scope: scope)
        } to: { results in
            results.flatMap(\.onlyDeletion).tell(completionHandler)
        }
    }

    /// Deletes a subscription.
    ///
    /// Missing: `unknownItem`.
    @discardableResult
    public func deleteSubscription(
        withID subscriptionID: CKSubscription.ID
    ) async throws -> CKSubscription.ID {
        try await self.results { scope throws(CKError) in
            try SubscriptionModification(saving: [], deleting: [subscriptionID], scope: scope)
        }.onlyDeletion.get()
    }
}
