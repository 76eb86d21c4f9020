import Foundation

/// Saves and deletes subscriptions of the user.
///
/// - Threads: See `CKOperation`.
/// - Shape: At most 400 items, else `limitExceeded`. A subscription that is named twice is
///   `invalidArguments`.
/// - Durability: A subscription that is reported as saved or deleted is so on the server's disk.
/// - Errors: The result block gets a success if only subscriptions failed; the deprecated
///   completion block gets a `partialFailure`.
///
/// | error | what to do |
/// |---|---|
/// | `invalidArguments` | correct the predicate |
/// | `zoneNotFound` | create the zone first |
/// | `badDatabase` | use a kind that the database has |
/// | `serverRejectedRequest` | use the subscription with the same definition and another ID |
/// | `unknownItem` | nothing: the subscription to delete does not exist |
///
/// - Source: Apple's `CKModifySubscriptionsOperation`.
// SAFETY: see `CKOperation`.
open class CKModifySubscriptionsOperation: CKDatabaseOperation, @unchecked Sendable {
    /// The subscriptions to save.
    open var subscriptionsToSave: [CKSubscription]?
    /// The IDs of the subscriptions to delete.
    public var subscriptionIDsToDelete: [CKSubscription.ID]?

    /// Called once for each subscription to save, with the subscription or its error.
    public var perSubscriptionSaveBlock: ((CKSubscription.ID, Result<CKSubscription, any Error>) -> Void)?
    /// Called once for each subscription to delete, with a success or its error.
    public var perSubscriptionDeleteBlock: ((CKSubscription.ID, Result<Void, any Error>) -> Void)?
    /// Called once, last; a success even if single items failed.
    public var modifySubscriptionsResultBlock: ((Result<Void, any Error>) -> Void)?
    /// Called once, last, with the saved subscriptions and the IDs of the deleted ones; `nil` for
    /// both if the whole request failed.
    ///
    /// Deprecated by Apple.
    public var modifySubscriptionsCompletionBlock:
        (([CKSubscription]?, [CKSubscription.ID]?, (any Error)?) -> Void)?

    /// Used on the callback queue only.
    private var saved: [CKSubscription] = []
    private var deleted: [CKSubscription.ID] = []

    /// Makes an operation that does nothing yet.
    public override init() { super.init() }

    /// Makes an operation that saves and deletes subscriptions.
    ///
    /// - Parameters:
    ///   - subscriptionsToSave: The subscriptions to save; at most 400 items with the deletions.
    ///   - subscriptionIDsToDelete: The IDs of the subscriptions to delete; none that is also
    ///     saved.
    public convenience init(
        subscriptionsToSave: [CKSubscription]? = nil,
        subscriptionIDsToDelete: [CKSubscription.ID]? = nil
    ) {
        self.init()
        self.subscriptionsToSave = subscriptionsToSave
        self.subscriptionIDsToDelete = subscriptionIDsToDelete
    }

    /// Sends the request.
    open override func main() {
        self.send { scope throws(CKError) in
            try SubscriptionModification(
                saving: self.subscriptionsToSave ?? [],
                deleting: self.subscriptionIDsToDelete ?? [],
                scope: scope
            )
        } results: { itemResult in
            switch itemResult {
            case .value(let id, let result):
                if case .success(let subscription) = result { self.saved.append(subscription) }
                self.perSubscriptionSaveBlock?(id, result)
            case .deletion(let id, let result):
                if case .success = result { self.deleted.append(id) }
                self.perSubscriptionDeleteBlock?(id, result)
            }
        }
    }

    override func report(_ error: CKError?) {
        self.modifySubscriptionsResultBlock?(error.requestResult)
        let isAnswered = error.requestError == nil
        self.modifySubscriptionsCompletionBlock?(
            isAnswered ? self.saved : nil,
            isAnswered ? self.deleted : nil,
            error
        )
    }

    override func releaseBlocks() {
        super.releaseBlocks()
        self.perSubscriptionSaveBlock = nil
        self.perSubscriptionDeleteBlock = nil
        self.modifySubscriptionsResultBlock = nil
        self.modifySubscriptionsCompletionBlock = nil
    }
}
