package import RecordModel

/// What rules may do with subscriptions within a transaction: the part that differs from one engine to another.
package protocol SubscriptionTransaction: AnyObject {
    /// A user's subscription by its ID.
    func subscription(
        _ id: String,
        of owner: String,
        in database: DatabaseID
    ) throws(StorageFailure) -> StoredSubscription?
    /// The ID of the user's subscription with exactly this definition.
    func subscriptionID(
        defined definition: [UInt8],
        of owner: String,
        in database: DatabaseID
    ) throws(StorageFailure) -> String?
    func countOfSubscriptions(of owner: String, in database: DatabaseID) throws(StorageFailure) -> Int
    /// Writes a subscription, in place of the one that is there, whose number it has.
    ///
    /// What installations acknowledged of that one stays if `createdPosition` does.
    func save(
        _ subscription: StoredSubscription,
        replacing existing: StoredSubscription?
    ) throws(StorageFailure)
    /// Deletes a subscription that is present, with what installations acknowledged of it.
    func delete(_ subscription: StoredSubscription) throws(StorageFailure)

    /// Whether anybody is told of what changes in a database.
    func isWatched(_ database: DatabaseID) -> Bool
    /// Adds a change to what is reported when the transaction has been committed, if anybody is told of it.
    ///
    /// Zones are the engine's to note, and the subscriptions that go with them.
    func note(_ kind: CommittedChange.Kind, at position: Int64, in database: DatabaseID)
}

/// A subscription as it is stored.
package struct StoredSubscription: Hashable, Sendable {
    /// What the engine calls it as long as it lives; 0: not stored yet.
    package var number: Int64
    package var key: SubscriptionKey
    /// Where a subscription of this ID and definition was first saved: from here on it counts what happens.
    package var createdPosition: Int64
    /// The zone that it goes with.
    package var zone: ZoneKey?
    /// What it is about, as `SubscriptionCoding` encodes it: equal definitions are equal bytes.
    package var definition: [UInt8]
    /// `nil`: its notifications say nothing.
    package var info: [UInt8]?

    package init(
        number: Int64,
        key: SubscriptionKey,
        createdPosition: Int64,
        zone: ZoneKey?,
        definition: [UInt8],
        info: [UInt8]?
    ) {
        self.number = number
        self.key = key
        self.createdPosition = createdPosition
        self.zone = zone
        self.definition = definition
        self.info = info
    }

    /// - Throws: When the bytes are none that this version wrote.
    package func subscription() throws(StorageFailure) -> Subscription {
        guard let kind = SubscriptionCoding.kind(self.definition) else { throw .unexpected(code: 0) }
        var info: NotificationInfo?
        if let bytes = self.info {
            info = SubscriptionCoding.info(bytes)
            if info == nil { throw .unexpected(code: 0) }
        }
        return Subscription(id: self.key.id, kind: kind, info: info)
    }
}
