/// What a user wants to be notified about.
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
    static let byOwner = Self.index(on: "database", "owner", "id")

    var number: Int64 = 0
    var database: DatabaseID
    /// The number of the author.
    var owner: Int64
    var id: String
    var position: Int64
    /// From here on it counts what happens.
    var createdPosition: Int64
    /// The zone that it goes with.
    var zone: Int64?
    /// As `SubscriptionCoding` encodes it: equal definitions are equal bytes.
    var definition: [UInt8]
    /// `nil` if its notifications say nothing.
    var info: [UInt8]?

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

    /// The subscription, without the name of its owner.
    var stored: StoredSubscription {
        StoredSubscription(
            number: self.number,
            key: SubscriptionKey(database: self.database, owner: "", id: self.id, position: self.position),
            createdPosition: self.createdPosition,
            zone: self.zone.map { ZoneKey(database: self.database, number: $0) },
            definition: self.definition,
            info: self.info
        )
    }
}
