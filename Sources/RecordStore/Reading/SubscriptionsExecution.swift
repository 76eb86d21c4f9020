package import RecordModel
package import StorageContract

/// Fetches the subscriptions of a user in one database, all from one snapshot.
package struct SubscriptionsExecution {
    private let owner: String
    private let database: DatabaseID
    private let bytesMax: Int
    private let snapshot: any Snapshot

    package init(of owner: String, in database: DatabaseID, bytesMax: Int, snapshot: any Snapshot) {
        self.owner = owner
        self.database = database
        self.bytesMax = bytesMax
        self.snapshot = snapshot
    }

    /// One result an ID, in order, or all subscriptions, by ID; `responseTooLarge` if they take more than
    /// `bytesMax` together.
    package func outcomes(
        _ selection: FetchSubscriptions.Selection
    ) throws(StorageFailure) -> Result<[SubscriptionOutcome], StoreError> {
        let found: [StoredSubscription?] =
            switch selection {
            case .ids(let ids):
                try self.snapshot.subscriptions(ids, of: self.owner, in: self.database)
            case .all: try self.snapshot.subscriptions(of: self.owner, in: self.database)
            }
        var results: [SubscriptionOutcome] = []
        results.reserveCapacity(found.count)
        var bytes = 0
        for stored in found {
            guard let stored else {
                results.append(.failed(.subscriptionMissing))
                continue
            }
            bytes += stored.definition.count + (stored.info?.count ?? 0)
            guard bytes <= self.bytesMax else { return .failure(.responseTooLarge(bytes: bytes)) }
            results.append(.subscription(try stored.subscription()))
        }
        return .success(results)
    }
}
