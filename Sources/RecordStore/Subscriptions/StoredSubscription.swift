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

    /// - Throws: `unexpected` if the bytes are none that this version wrote.
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

/// The outcome of one item of a fetch of subscriptions.
package enum SubscriptionOutcome: Hashable, Sendable {
    case subscription(Subscription)
    case failed(StoreError)
}
