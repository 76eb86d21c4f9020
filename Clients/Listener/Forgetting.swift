import CloudKit

/// Deletes subscriptions that listeners have saved.
struct Forgetting {
    let container: CKContainer
    /// The subscriptions to delete; empty if all are to be.
    let wanted: [WantedSubscription]

    /// - Throws: `ListenFailure`, `CKError` or `CancellationError`.
    func run() async throws {
        var count = 0
        for (scope, subscription) in try await self.container.subscriptionsOfAll(nil) {
            guard self.isOurs(subscription, in: scope) else { continue }
            _ = try await self.container.database(with: scope)
                .deleteSubscription(withID: subscription.subscriptionID)
            Output.status("forgot \(subscription.subscriptionID) (\(scope.text))")
            count += 1
        }
        if count == 0 { Output.status("no such subscription exists") }
    }

    private func isOurs(_ subscription: CKSubscription, in scope: CKDatabase.Scope) -> Bool {
        guard subscription.subscriptionID.hasPrefix(WantedSubscription.idPrefix) else { return false }
        return self.wanted.isEmpty
            || self.wanted.contains { $0.id == subscription.subscriptionID && $0.scope == scope }
    }
}
