/// A subscription of a user.
package struct SubscriptionRow: TableRow {
    package static let table = Table(
        "subscription",
        columns: [
            .integer("number"), .integer("database"), .integer("owner"), .text("id"), .integer("position"),
            .integer("created_position"), .optional(.integer("zone")), .bytes("definition"),
            .optional(.bytes("info")),
        ],
        key: ["number"],
        numbering: .numbered,
        indexes: [
            .unique("database", "owner", "id"), .unique("database", "owner", "definition"),
            .lookup("database", "zone").only(where: "zone"),
        ]
    )
    package static let byOwner = Self.index(on: "database", "owner", "id")
    package static let byDefinition = Self.index(on: "database", "owner", "definition")
    package static let byZone = Self.index(on: "database", "zone")

    package var number: Int64 = 0
    package var database: DatabaseID
    /// The number of the author.
    package var owner: Int64
    package var id: String
    package var position: Int64
    /// From here on it counts what happens.
    package var createdPosition: Int64
    /// The zone that it goes with.
    package var zone: Int64?
    /// As `SubscriptionCoding` encodes it: equal definitions are equal bytes.
    package var definition: [UInt8]
    /// `nil` if its notifications say nothing.
    package var info: [UInt8]?

    package init(_ subscription: StoredSubscription, owner: Int64) {
        self.number = subscription.number
        self.database = subscription.key.database
        self.owner = owner
        self.id = subscription.key.id
        self.position = subscription.key.position
        self.createdPosition = subscription.createdPosition
        self.zone = subscription.zone?.number
        self.definition = subscription.definition
        self.info = subscription.info
    }

    package init(_ columns: inout ColumnReader) throws(StorageFailure) {
        self.number = try columns.next()
        self.database = try columns.next()
        self.owner = try columns.next()
        self.id = try columns.next()
        self.position = try columns.next()
        self.createdPosition = try columns.next()
        self.zone = try columns.next()
        self.definition = try columns.next()
        self.info = try columns.next()
    }

    package func write(to columns: inout ColumnWriter) {
        columns.append(self.number)
        columns.append(self.database)
        columns.append(self.owner)
        columns.append(self.id)
        columns.append(self.position)
        columns.append(self.createdPosition)
        columns.append(self.zone)
        columns.append(self.definition)
        columns.append(self.info)
    }

    /// The subscription, with the name of its owner.
    package func stored(ownedBy owner: String) -> StoredSubscription {
        StoredSubscription(
            number: self.number,
            key: SubscriptionKey(
                database: self.database,
                owner: owner,
                id: self.id,
                position: self.position
            ),
            createdPosition: self.createdPosition,
            zone: self.zone.map { ZoneKey(database: self.database, number: $0) },
            definition: self.definition,
            info: self.info
        )
    }
}

/// The position up to which an installation has acknowledged a subscription.
package struct ListenerCursorRow: TableRow {
    package static let table = Table(
        "listener_cursor",
        columns: [.integer("subscription"), .bytes("installation"), .integer("position")],
        key: ["subscription", "installation"]
    )

    /// The number of the subscription.
    package var subscription: Int64
    package var installation: [UInt8]
    package var position: Int64

    package init(subscription: Int64, installation: [UInt8], position: Int64) {
        self.subscription = subscription
        self.installation = installation
        self.position = position
    }

    package init(_ columns: inout ColumnReader) throws(StorageFailure) {
        self.subscription = try columns.next()
        self.installation = try columns.next()
        self.position = try columns.next()
    }

    package func write(to columns: inout ColumnWriter) {
        columns.append(self.subscription)
        columns.append(self.installation)
        columns.append(self.position)
    }
}
