internal import RecordModel
internal import WireProtocol

/// Subscriptions to fetch: all of the user's, or those with certain IDs.
///
/// An ID that is named several times is fetched once.
struct SubscriptionFetch: BatchRequest {
    typealias ItemID = CKSubscription.ID
    typealias Value = CKSubscription

    static let partialFailureText = "Failed to fetch some subscriptions"

    private let scope: DatabaseScopeModel
    /// `nil` if all are fetched.
    private let ids: [CKSubscription.ID]?

    init(_ ids: [CKSubscription.ID]?, scope: DatabaseScopeModel) {
        var seen: Set<CKSubscription.ID> = []
        self.ids = ids.map { ids in ids.filter { seen.insert($0).inserted } }
        self.scope = scope
    }

    var itemCount: Int? { self.ids?.count }
    var roles: RequestRoles<Self> { RequestRoles() }

    func operation(user: String) throws(CKError) -> RequestModel {
        let selection: FetchSubscriptions.Selection = if let ids = self.ids { .ids(ids) } else { .all }
        return .fetchSubscriptions(FetchSubscriptions(scope: self.scope, selection: selection))
    }

    func result(of item: Item, user: String) -> ItemResult? {
        guard let ids = self.ids else {
            // Only the response has the list of subscriptions.
            guard case .subscription(let subscription) = item.outcome else { return nil }
            return .value(subscription.id, .success(.made(of: subscription)))
        }
        guard Int(item.index) < ids.count else { return nil }
        let id = ids[Int(item.index)]
        guard case .subscription(let subscription) = item.outcome else {
            let subject = ErrorSubject(item: id, scope: self.scope)
            return .value(id, .failure(item.outcome.error(user: user, about: subject)))
        }
        return .value(id, .success(.made(of: subscription)))
    }
}
