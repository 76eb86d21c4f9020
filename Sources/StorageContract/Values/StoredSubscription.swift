package import RecordModel

/// A subscription as it is stored.
package struct StoredSubscription: Hashable, Sendable {
    /// The number of its row; 0 if it is not stored yet.
    package var number: Int64
    package var key: SubscriptionKey
    /// Where a subscription of this ID and definition was first saved: from here on it counts what
    /// happens.
    package var createdPosition: Int64
    /// The zone that it goes with.
    package var zone: ZoneKey?
    /// Its definition, as `SubscriptionCoding` encodes it: equal definitions are equal bytes.
    package var definition: [UInt8]
    /// `nil` if its notifications say nothing.
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
}

/// Names one save of a subscription.
package struct SubscriptionKey: Hashable, Sendable {
    package var database: DatabaseID
    /// User record name.
    package var owner: String
    package var id: String
    /// The position at which it was saved: another one whenever it is saved again.
    package var position: Int64

    package init(database: DatabaseID, owner: String, id: String, position: Int64) {
        self.database = database
        self.owner = owner
        self.id = id
        self.position = position
    }
}

/// A subscription with the data that a listener needs.
package struct WatchedSubscription: Hashable, Sendable {
    package var key: SubscriptionKey
    package var subscription: Subscription
    /// Whether the subscription has changes that the installation has not acknowledged.
    package var hasChanges: Bool
    /// The position of the database, to be acknowledged when the installation knows of the news.
    package var position: Int64

    package init(key: SubscriptionKey, subscription: Subscription, hasChanges: Bool, position: Int64) {
        self.key = key
        self.subscription = subscription
        self.hasChanges = hasChanges
        self.position = position
    }
}
