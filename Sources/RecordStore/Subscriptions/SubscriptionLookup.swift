import StorageContract

/// The subscriptions of a user in one database, in the rows of `SubscriptionRow`.
extension TableReader {
    /// Finds a subscription by its ID.
    func subscription(
        _ id: String,
        of owner: String,
        in database: DatabaseID
    ) throws(StorageFailure) -> StoredSubscription? {
        try self.subscriptions([id], of: owner, in: database)[0]
    }

    /// Finds subscriptions by ID: one element an ID, in order.
    func subscriptions(
        _ ids: [String],
        of owner: String,
        in database: DatabaseID
    ) throws(StorageFailure) -> [StoredSubscription?] {
        guard let author = try self.authorNumber(ofUser: owner) else {
            return Array(repeating: nil, count: ids.count)
        }
        let keys = ids.map { SubscriptionRow.byOwner.key(database, author, $0) }
        var found: [StoredSubscription?] = []
        found.reserveCapacity(keys.count)
        for row in try self.rows(SubscriptionRow.byOwner, keys: keys) {
            found.append(row?.stored(ownedBy: owner))
        }
        return found
    }

    /// Lists all subscriptions, by ID: at most as many as a user may have.
    func subscriptions(
        of owner: String,
        in database: DatabaseID
    ) throws(StorageFailure) -> [StoredSubscription] {
        guard let author = try self.authorNumber(ofUser: owner) else { return [] }
        return try self.rows(RowRange(SubscriptionRow.byOwner, database, author))
            .map { $0.stored(ownedBy: owner) }
    }

    /// Finds the ID of the subscription with exactly this definition.
    func subscriptionID(
        defined definition: [UInt8],
        of owner: String,
        in database: DatabaseID
    ) throws(StorageFailure) -> String? {
        guard let author = try self.authorNumber(ofUser: owner) else { return nil }
        return try self.row(SubscriptionRow.byDefinition, database, author, definition)?.id
    }
}
