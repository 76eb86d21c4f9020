internal import RecordModel
internal import WireProtocol

/// Subscriptions to save and to delete in one request.
///
/// Their contents are copied when the request is made.
struct SubscriptionModification: BatchRequest {
    typealias ItemID = CKSubscription.ID
    typealias Value = CKSubscription

    static let partialFailureText = "Failed to modify some subscriptions"

    private let refused: [ItemResult]
    private let scope: DatabaseScopeModel
    private let saves: [CKSubscription]
    private let models: [RecordModel.Subscription]
    private let deletes: [CKSubscription.ID]

    /// - Throws: `invalidArguments` if a subscription is named twice.
    init(
        saving subscriptions: [CKSubscription],
        deleting ids: [CKSubscription.ID],
        scope: DatabaseScopeModel
    ) throws(CKError) {
        let all = subscriptions.map(\.subscriptionID) + ids
        guard Set(all).count == all.count else {
            throw CKError.local(.invalidArguments, "You can't name the same subscription twice")
        }
        var refused: [ItemResult] = []
        var saves: [CKSubscription] = []
        var models: [RecordModel.Subscription] = []
        for subscription in subscriptions {
            do throws(CKError) {
                models.append(try subscription.model())
                saves.append(subscription)
            } catch {
                refused.append(.value(subscription.subscriptionID, .failure(error)))
            }
        }
        self.refused = refused
        self.saves = saves
        self.models = models
        self.deletes = ids
        self.scope = scope
    }

    var itemCount: Int? { self.saves.count + self.deletes.count }
    var roles: RequestRoles<Self> { RequestRoles(refused: self.refused) }

    func operation(user: String) throws(CKError) -> RequestModel {
        .modifySubscriptions(
            ModifySubscriptions(
                scope: self.scope,
                saves: self.models.map { $0.naming(user: user) },
                deletes: self.deletes
            )
        )
    }

    func result(of item: Item, user: String) -> ItemResult? {
        let index = Int(item.index)
        guard index < self.saves.count + self.deletes.count else { return nil }
        if index < self.saves.count {
            let subscription = self.saves[index]
            let id = subscription.subscriptionID
            if case .subscription = item.outcome { return .value(id, .success(subscription)) }
            let subject = ErrorSubject(item: id, zone: subscription.zone, scope: self.scope)
            return .value(id, .failure(item.outcome.error(user: user, about: subject)))
        }
        let id = self.deletes[index - self.saves.count]
        if case .deleted = item.outcome { return .deletion(id, .success(())) }
        let subject = ErrorSubject(item: id, scope: self.scope)
        return .deletion(id, .failure(item.outcome.error(user: user, about: subject)))
    }
}

extension RecordModel.Subscription {
    /// Returns the subscription with the user's own name where its predicate refers to "the current
    /// user".
    fileprivate func naming(user: String) -> RecordModel.Subscription {
        guard case .query(let recordType, let predicate, let zone, let firesOn) = self.kind else {
            return self
        }
        var subscription = self
        subscription.kind = .query(
            recordType: recordType,
            predicate: predicate.naming(user: user),
            zone: zone,
            firesOn: firesOn
        )
        return subscription
    }
}

extension CKSubscription {
    /// The zone of the subscription; `nil` if it covers all zones.
    fileprivate var zone: CKRecordZone.ID? {
        switch self {
        case let query as CKQuerySubscription: query.zoneID
        case let zone as CKRecordZoneSubscription: zone.zoneID
        default: nil
        }
    }
}
