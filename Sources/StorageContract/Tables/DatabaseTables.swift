package import RecordModel

/// A database: its owner, the last position that it gave out, and its stored amounts.
package struct DatabaseRow: TableRow {
    package static let table = Table(
        "database",
        columns: [
            .integer("number"), .integer("environment"), .integer("scope"), .integer("owner"),
            .integer("position"), .integer("epoch"), .integer("tombstones_gone_through"),
            .integer("record_count"), .integer("record_bytes"), .integer("asset_count"),
            .integer("asset_bytes"), .integer("row_bytes"),
        ],
        key: ["number"],
        numbering: .numbered,
        indexes: [.unique("environment", "scope", "owner")]
    )
    package static let byOwner = Self.index(on: "environment", "scope", "owner")

    /// The owner of public databases.
    package static let nobody = UserNumber(rawValue: 0)

    package var number = DatabaseID(rawValue: 0)
    package var environment: EnvironmentID
    package var scope: DatabaseScope
    package var owner: UserNumber
    package var position: Int64
    /// The epoch of the database, which must match that of a client's token: see `DatabaseEpoch`.
    package var epoch: Int64
    /// Tombstones up to here are gone: older tokens have expired.
    package var tombstonesGoneThrough: Int64 = 0
    package var stored: StoredAmount

    package init(
        environment: EnvironmentID,
        scope: DatabaseScope,
        owner: UserNumber,
        position: Int64,
        epoch: Int64,
        stored: StoredAmount
    ) {
        self.environment = environment
        self.scope = scope
        self.owner = owner
        self.position = position
        self.epoch = epoch
        self.stored = stored
    }

    package init(_ columns: inout ColumnReader) throws(StorageFailure) {
        self.number = try columns.next()
        self.environment = try columns.next()
        self.scope = try columns.next()
        self.owner = try columns.next()
        self.position = try columns.next()
        self.epoch = try columns.next()
        self.tombstonesGoneThrough = try columns.next()
        self.stored = StoredAmount(
            records: try columns.next(),
            recordBytes: try columns.next(),
            assets: try columns.next(),
            assetBytes: try columns.next(),
            rowBytes: try columns.next()
        )
    }

    package func write(to columns: inout ColumnWriter) {
        columns.append(self.number)
        columns.append(self.environment)
        columns.append(self.scope)
        columns.append(self.owner)
        columns.append(self.position)
        columns.append(self.epoch)
        columns.append(self.tombstonesGoneThrough)
        columns.append(self.stored.records)
        columns.append(self.stored.recordBytes)
        columns.append(self.stored.assets)
        columns.append(self.stored.assetBytes)
        columns.append(self.stored.rowBytes)
    }
}

/// A zone of a database, or in a shared database the one of another database that it leads to.
package struct ZoneRow: TableRow {
    package static let table = Table(
        "zone",
        columns: [
            .integer("database"), .text("name"), .integer("number"), .integer("position"),
            .integer("record_count"), .integer("byte_count"), .optional(.integer("target_database")),
            .optional(.integer("target_zone")),
            .optional(.bytes("client_token")), .integer("row_bytes"),
            .optional(.integer("encryption_scope")),
        ],
        key: ["database", "name"],
        indexes: [
            .unique("database", "number"),
            .unique("database", "target_database", "target_zone").only(where: "target_database"),
        ]
    )
    package static let byNumber = Self.index(on: "database", "number")
    package static let byTarget = Self.index(on: "database", "target_database", "target_zone")

    package var database: DatabaseID
    package var name: String
    /// The key of the contents.
    package var number: Int64
    /// The position of the last change.
    package var position: Int64 = 0
    package var records: Int64 = 0
    package var recordBytes: Int64 = 0
    package var targetDatabase: DatabaseID?
    package var targetZone: Int64?
    /// The client token of the last change of the zone.
    package var clientToken: [UInt8]?
    package var rowBytes: Int64 = 0
    /// The encryption scope of a zone with contents; `nil` if each record has a key of its own.
    package var encryptionScope: EncryptionScope?

    package init(database: DatabaseID, name: String, number: Int64) {
        self.database = database
        self.name = name
        self.number = number
    }

    package init(_ columns: inout ColumnReader) throws(StorageFailure) {
        self.database = try columns.next()
        self.name = try columns.next()
        self.number = try columns.next()
        self.position = try columns.next()
        self.records = try columns.next()
        self.recordBytes = try columns.next()
        self.targetDatabase = try columns.next()
        self.targetZone = try columns.next()
        self.clientToken = try columns.next()
        self.rowBytes = try columns.next()
        self.encryptionScope = try columns.next()
    }

    package func write(to columns: inout ColumnWriter) {
        columns.append(self.database)
        columns.append(self.name)
        columns.append(self.number)
        columns.append(self.position)
        columns.append(self.records)
        columns.append(self.recordBytes)
        columns.append(self.targetDatabase)
        columns.append(self.targetZone)
        columns.append(self.clientToken)
        columns.append(self.rowBytes)
        columns.append(self.encryptionScope)
    }

    /// The key of the contents: those of another zone if it leads to one.
    package var contents: ZoneKey {
        guard let database = self.targetDatabase, let number = self.targetZone else { return self.key }
        return ZoneKey(database: database, number: number)
    }

    /// The key of the contents of a zone that leads nowhere.
    package var key: ZoneKey { ZoneKey(database: self.database, number: self.number) }
}

extension EncryptionScope: ColumnConvertible {
    package init?(columnValue: ColumnValue) {
        guard case .integer(let number) = columnValue, let raw = UInt8(exactly: number) else { return nil }
        self.init(rawValue: raw)
    }

    package var columnValue: ColumnValue { .integer(Int64(self.rawValue)) }
}
