package import RecordModel
package import StorageContract

/// The outcome of one item of a fetch of subscriptions.
package enum SubscriptionOutcome: Hashable, Sendable {
    case subscription(Subscription)
    case failed(StoreError)
}
