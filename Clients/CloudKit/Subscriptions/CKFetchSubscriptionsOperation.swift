import Foundation

/// Fetches subscriptions of the user: those with certain IDs, or all in a database.
///
/// - Threads: See `CKOperation`.
/// - Shape: At most 400 IDs, else `limitExceeded`. An ID that is named several times is fetched and
///   reported once.
/// - Errors: A subscription that does not exist has `unknownItem`. The result block gets a success
///   then; the deprecated completion block gets a `partialFailure`.
/// - Source: Apple's `CKFetchSubscriptionsOperation`.
// SAFETY: see `CKOperation`.
open class CKFetchSubscriptionsOperation: CKDatabaseOperation, @unchecked Sendable {
    /// The IDs of the subscriptions to fetch; ignored by an operation that fetches all.
    public var subscriptionIDs: [CKSubscription.ID]?

    /// Called once for each subscription, with the subscription or its error.
    public var perSubscriptionResultBlock: ((CKSubscription.ID, Result<CKSubscription, any Error>) -> Void)?
    /// Called once, last; a success even if single items failed.
    public var fetchSubscriptionsResultBlock: ((Result<Void, any Error>) -> Void)?
    /// Called once, last, with the subscriptions found; `nil` instead if the whole request failed.
    ///
    /// Deprecated by Apple.
    public var fetchSubscriptionCompletionBlock:
        (([CKSubscription.ID: CKSubscription]?, (any Error)?) -> Void)?

    /// Used on the callback queue only.
    private var found: [CKSubscription.ID: CKSubscription] = [:]
    private var isForAll = false

    /// Makes an operation that fetches nothing yet.
    public override init() { super.init() }

    /// Makes an operation that fetches subscriptions.
    ///
    /// - Parameter subscriptionIDs: At most 400 IDs, else the operation fails with `limitExceeded`.
    public convenience init(subscriptionIDs: [CKSubscription.ID]) {
        self.init()
        self.subscriptionIDs = subscriptionIDs
    }

    /// Makes an operation that fetches all subscriptions of the user in its database.
    open class func fetchAllSubscriptionsOperation() -> Self {
        let operation = Self.madeByDefault()
        operation.isForAll = true
        return operation
    }

    /// Sends the request.
    open override func main() {
        self.send {
            SubscriptionFetch(self.isForAll ? nil : self.subscriptionIDs ?? [], scope: $0)
        } results: { itemResult in
            guard case .value(let id, let result) = itemResult else { return }
            if case .success(let subscription) = result { self.found[id] = subscription }
            self.perSubscriptionResultBlock?(id, result)
        }
    }

    override func report(_ error: CKError?) {
        self.fetchSubscriptionsResultBlock?(error.requestResult)
        let isAnswered = error.requestError == nil
        self.fetchSubscriptionCompletionBlock?(isAnswered ? self.found : nil, error)
    }

    override func releaseBlocks() {
        super.releaseBlocks()
        self.perSubscriptionResultBlock = nil
        self.fetchSubscriptionsResultBlock = nil
        self.fetchSubscriptionCompletionBlock = nil
    }
}
