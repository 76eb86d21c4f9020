import StorageContract

/// Writes of subscriptions, and of the acknowledgements that belong to them.
extension ChangeTransaction {
    /// Writes a subscription; it replaces the existing one and has the same number.
    ///
    /// The acknowledged positions of installations stay if `createdPosition` does.
    func save(
        _ subscription: StoredSubscription,
        replacing existing: StoredSubscription?
    ) throws(StorageFailure) {
        let owner = try self.authorNumber(ofUserOrNew: subscription.key.owner)
        let row = SubscriptionRow(subscription, owner: owner)
        var growth = RowBytes.subscription(subscription)
        if let existing {
            growth -= RowBytes.subscription(existing)
            // Another definition: no installation has acknowledged any of its changes.
            if subscription.createdPosition != existing.createdPosition {
                try self.deleteCursors(of: existing)
            }
            try self.put(row)
        } else {
            _ = try self.insert(row)
        }
        self.count(rowBytes: growth, in: subscription.key.database)
    }

    /// Deletes a subscription that is present, with what installations acknowledged of it.
    func delete(_ subscription: StoredSubscription) throws(StorageFailure) {
        try self.deleteCursors(of: subscription)
        try self.delete(keys: [[.integer(subscription.number)]], from: SubscriptionRow.table)
        self.count(rowBytes: -RowBytes.subscription(subscription), in: subscription.key.database)
    }

    /// Deletes a subscription that is present, and notes it.
    func drop(_ subscription: StoredSubscription) throws(StorageFailure) {
        let database = subscription.key.database
        let position = try self.takePosition(in: database)
        try self.delete(subscription)
        self.note(.subscriptionDeleted(subscription.key), at: position, in: database)
    }

    /// Deletes the subscriptions that go with a zone, which is deleted at a position: a row each,
    /// as the subscribers of each are notified.
    func deleteSubscriptions(of zone: ZoneKey, at position: Int64) throws(StorageFailure) {
        for row in try self.rows(RowRange(SubscriptionRow.byZone, zone.database, zone.number)) {
            try self.delete(row.stored(ownedBy: ""))
            guard self.isWatched(zone.database) else { continue }
            let owner = try self.userRecordName(ofAuthor: row.owner)
            self.note(
                .subscriptionDeleted(row.stored(ownedBy: owner).key),
                at: position,
                in: zone.database
            )
        }
    }

    /// Deletes subscriptions that fired, were to fire once, and have not changed since.
    func expire(_ subscriptions: Set<SubscriptionKey>) throws(StorageFailure) {
        for key in subscriptions {
            guard let stored = try self.subscription(key.id, of: key.owner, in: key.database),
                stored.key == key
            else { continue }
            try self.drop(stored)
        }
    }

    private func deleteCursors(of subscription: StoredSubscription) throws(StorageFailure) {
        let count = try self.delete(RowRange(ListenerCursorRow.byKey, subscription.number))
        guard count > 0 else { return }
        self.count(rowBytes: -count * RowBytes.cursor, in: subscription.key.database)
    }
}
