// Subscriptions, one at a time and all of them.
extension CKDatabase {
    /// Fetches all subscriptions of the user in the database; see `allSubscriptions()`.
    ///
    /// - Parameter completionHandler: Called once, on a queue of its own, with the subscriptions or
    ///   the error.
    @preconcurrency public func fetchAllSubscriptions(
        completionHandler: @escaping @Sendable ([CKSubscription]?, (any Error)?) -> Void
    ) {
        self.deliver({ SubscriptionFetch(nil, scope: $0) }) { results in
            results.map { $0.values.values.compactMap { try? $0.get() } }.report(to: completionHandler)
        }
    }

    /// Returns all subscriptions of the user in the database, in no particular order.
    ///
    /// - Throws: `CKError`: `notAuthenticated` (sign in: only users have subscriptions);
    ///   `requestRateLimited`, `serviceUnavailable` or `networkFailure` (repeat later).
    public nonisolated(nonsending) func allSubscriptions() async throws -> [CKSubscription] {
        try await self.results { SubscriptionFetch(nil, scope: $0) }.values.values
            .compactMap { try? $0.get() }
    }

    /// Fetches a subscription; see `subscription(for:)`.
    ///
    /// - Parameters:
    ///   - subscriptionID: The subscription's ID.
    ///   - completionHandler: Called once, on a queue of its own, with the subscription or the
    ///     error.
    @preconcurrency public func fetch(
        withSubscriptionID subscriptionID: CKSubscription.ID,
        completionHandler: @escaping @Sendable (CKSubscription?, (any Error)?) -> Void
    ) {
        self.deliver({ SubscriptionFetch([subscriptionID], scope: $0) }) { results in
            results.flatMap(\.onlyValue).report(to: completionHandler)
        }
    }

    /// Fetches a subscription.
    ///
    /// - Parameter subscriptionID: The subscription's ID.
    /// - Returns: The subscription.
    /// - Throws: `CKError`: `unknownItem` if the subscription does not exist (save it);
    ///   `notAuthenticated` (sign in: only users have subscriptions); `requestRateLimited`,
    ///   `serviceUnavailable` or `networkFailure` (repeat later).
    public func subscription(for subscriptionID: CKSubscription.ID) async throws -> CKSubscription {
        try await self.results { SubscriptionFetch([subscriptionID], scope: $0) }.onlyValue.get()
    }

    /// Saves a subscription; see `save(_:)`.
    ///
    /// - Parameters:
    ///   - subscription: The subscription.
    ///   - completionHandler: Called once, on a queue of its own, with the subscription or the
    ///     error.
    @preconcurrency public func save(
        _ subscription: CKSubscription,
        completionHandler: @escaping @Sendable (CKSubscription?, (any Error)?) -> Void
    ) {
        self.deliver {
            scope throws(CKError) in
            try SubscriptionModification(saving: [subscription], deleting: [], scope: scope)
        } to: { results in
            results.flatMap(\.onlyValue).report(to: completionHandler)
        }
    }

    /// Saves a subscription; it replaces the user's subscription with the same ID.
    ///
    /// `CKContainer.notifications()` then delivers its notifications.
    ///
    /// ```swift
    /// let subscription = CKQuerySubscription(
    ///     recordType: "Note",
    ///     predicate: NSPredicate(format: "pages > %d", 10),
    ///     subscriptionID: "long-notes",
    ///     options: [.firesOnRecordCreation]
    /// )
    /// try await database.save(subscription)
    /// ```
    ///
    /// | error | what to do |
    /// |---|---|
    /// | `invalidArguments` | correct the predicate, or name what the subscription fires on |
    /// | `zoneNotFound` | create the zone first |
    /// | `badDatabase` | use a kind that the database has: public ones have only queries |
    /// | `serverRejectedRequest` | use the subscription with the same definition and another ID |
    /// | `notAuthenticated` | sign in: only users have subscriptions |
    ///
    /// - Parameter subscription: The subscription.
    /// - Returns: The same object.
    /// - Throws: `CKError`, see the table.
    @discardableResult
    public nonisolated(nonsending) func save(
        _ subscription: CKSubscription
    ) async throws -> CKSubscription {
        try await self.results { scope throws(CKError) in
            try SubscriptionModification(saving: [subscription], deleting: [], scope: scope)
        }.onlyValue.get()
    }

    /// Deletes a subscription; see `deleteSubscription(withID:)`.
    ///
    /// - Parameters:
    ///   - subscriptionID: The subscription's ID.
    ///   - completionHandler: Called once, on a queue of its own, with the ID or the error.
    @preconcurrency public func delete(
        withSubscriptionID subscriptionID: CKSubscription.ID,
        completionHandler: @escaping @Sendable (String?, (any Error)?) -> Void
    ) {
        self.deliver {
            scope throws(CKError) in
            try SubscriptionModification(saving: [], deleting: [subscriptionID], scope: scope)
        } to: { results in
            results.flatMap(\.onlyDeletion).report(to: completionHandler)
        }
    }

    /// Deletes a subscription.
    ///
    /// - Parameter subscriptionID: The subscription's ID.
    /// - Returns: The same ID.
    /// - Throws: `CKError`: `unknownItem` if the subscription does not exist (nothing is left to
    ///   do); `notAuthenticated` (sign in: only users have subscriptions); `requestRateLimited`,
    ///   `serviceUnavailable` or `networkFailure` (repeat later).
    @discardableResult
    public func deleteSubscription(
        withID subscriptionID: CKSubscription.ID
    ) async throws -> CKSubscription.ID {
        try await self.results { scope throws(CKError) in
            try SubscriptionModification(saving: [], deleting: [subscriptionID], scope: scope)
        }.onlyDeletion.get()
    }
}
