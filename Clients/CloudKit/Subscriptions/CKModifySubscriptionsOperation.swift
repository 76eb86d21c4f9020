import Foundation

/// Saves and deletes subscriptions of the user.
///
/// - Shape: At most 400 items, else `limitExceeded`. A subscription that is named twice is `invalidArguments`.
/// - Durability: What is reported as saved or deleted is on the server's disk.
/// - Errors: A predicate that a query can't have is `invalidArguments`, a zone that does not exist `zoneNotFound`, a kind that the
///   database does not have `badDatabase`, one that is about the same as another with another ID `serverRejectedRequest`. Deleting one that
///   does not exist is `unknownItem`. The result block gets a success when only subscriptions failed; the deprecated completion
///   block gets a `partialFailure`.
// SAFETY: see `CKOperation`.
open class CKModifySubscriptionsOperation: CKDatabaseOperation, @unchecked Sendable {
    /// The subscriptions to save.
    open var subscriptionsToSave: [CKSubscription]?
    /// The IDs of the subscriptions to delete.
    public var subscriptionIDsToDelete: [CKSubscription.ID]?

    /// Called for every subscription to save.
    public var perSubscriptionSaveBlock: ((CKSubscription.ID, Result<CKSubscription, any Error>) -> Void)?
    /// Called for every subscription to delete.
    public var perSubscriptionDeleteBlock: ((CKSubscription.ID, Result<Void, any Error>) -> Void)?
    /// Called last.
    public var modifySubscriptionsResultBlock: ((Result<Void, any Error>) -> Void)?
    /// Called last, with the subscriptions that were saved and the IDs of those deleted: `nil` for both when the
    /// request as a whole failed.
    ///
    /// Deprecated by Apple.
    public var modifySubscriptionsCompletionBlock:
        (([CKSubscription]?, [CKSubscription.ID]?, (any Error)?) -> Void)?

    /// On the callback queue only.
    private var saved: [CKSubscription] = []
    private var deleted: [CKSubscription.ID] = []

    /// Makes an operation that does nothing yet.
    public override init() { super.init() }

    /// Makes an operation that saves and deletes subscriptions.
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
        } answers: { answer in
            switch answer {
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
