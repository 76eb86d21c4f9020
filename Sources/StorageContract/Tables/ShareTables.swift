package import RecordModel

/// An existing share.
package struct ShareRow: TableRow {
    package static let table = Table(
        "share",
        columns: [
            .integer("number"), .integer("database"), .integer("zone"), .text("name"),
            .optional(.text("root")),
        ],
        key: ["number"],
        numbering: .numberedOnce,
        indexes: [.unique("database", "zone", "name")]
    )
    package static let byName = Self.index(on: "database", "zone", "name")

    package var number = ShareNumber(rawValue: 0)
    package var database: DatabaseID
    package var zone: Int64
    package var name: String
    /// `nil` if the zone is shared as a whole.
    package var root: String?

    package init(_ share: StoredShare) {
        self.number = share.number
        self.database = share.zone.database
        self.zone = share.zone.number
        self.name = share.name
        self.root = share.root
    }

    package init(_ columns: inout ColumnReader) throws(StorageFailure) {
        self.number = try columns.next()
        self.database = try columns.next()
        self.zone = try columns.next()
        self.name = try columns.next()
        self.root = try columns.next()
    }

    package func write(to columns: inout ColumnWriter) {
        columns.append(self.number)
        columns.append(self.database)
        columns.append(self.zone)
        columns.append(self.name)
        columns.append(self.root)
    }

    package var zoneKey: ZoneKey { ZoneKey(database: self.database, number: self.zone) }

    package var stored: StoredShare {
        StoredShare(number: self.number, zone: self.zoneKey, name: self.name, root: self.root)
    }
}

/// A user who has joined a share.
package struct ShareReaderRow: TableRow {
    package static let table = Table(
        "share_reader",
        columns: [
            .integer("reader"), .integer("share"), .integer("permission"), .integer("role"),
            .integer("since"),
        ],
        key: ["reader", "share"],
        indexes: [.lookup("share")]
    )
    package static let byShare = Self.index(on: "share")

    /// The shared database of the user.
    package var reader: DatabaseID
    package var share: ShareNumber
    package var permission: SharePermission
    package var role: ShareRole
    /// Of no account.
    package var since: Int64 = 0

    package init(reader: DatabaseID, share: ShareNumber, permission: SharePermission, role: ShareRole) {
        self.reader = reader
        self.share = share
        self.permission = permission
        self.role = role
    }

    package init(_ columns: inout ColumnReader) throws(StorageFailure) {
        self.reader = try columns.next()
        self.share = try columns.next()
        self.permission = try columns.next()
        self.role = try columns.next()
        self.since = try columns.next()
    }

    package func write(to columns: inout ColumnWriter) {
        columns.append(self.reader)
        columns.append(self.share)
        columns.append(self.permission)
        columns.append(self.role)
        columns.append(self.since)
    }
}

/// A zone in a shared database that may be out of date.
package struct ViewRefreshRow: TableRow {
    package static let table = Table(
        "view_refresh",
        columns: [.integer("reader"), .integer("database"), .integer("zone"), .optional(.bytes("origin"))],
        key: ["reader", "database", "zone"]
    )

    /// The shared database.
    package var reader: DatabaseID
    /// The database of the owner.
    package var database: DatabaseID
    package var zone: Int64
    /// The connection that made the change, as `ChangeOrigin` encodes it.
    ///
    /// `nil` if several connections made it, or none.
    package var origin: [UInt8]?

    package init(reader: DatabaseID, zone: ZoneKey, origin: ChangeOrigin?) {
        self.reader = reader
        self.database = zone.database
        self.zone = zone.number
        self.origin = origin?.bytes
    }

    package init(_ columns: inout ColumnReader) throws(StorageFailure) {
        self.reader = try columns.next()
        self.database = try columns.next()
        self.zone = try columns.next()
        self.origin = try columns.next()
    }

    package func write(to columns: inout ColumnWriter) {
        columns.append(self.reader)
        columns.append(self.database)
        columns.append(self.zone)
        columns.append(self.origin)
    }
    package var zoneKey: ZoneKey { ZoneKey(database: self.database, number: self.zone) }
}

/// A change of a share that the shared databases of its readers do not know yet.
package struct ShareNewsRow: TableRow {
    package static let table = Table(
        "share_news",
        columns: [.integer("share"), .optional(.bytes("origin"))],
        key: ["share"]
    )

    package var share: ShareNumber
    /// As in `ViewRefreshRow`.
    package var origin: [UInt8]?

    package init(share: ShareNumber, origin: ChangeOrigin?) {
        self.share = share
        self.origin = origin?.bytes
    }

    package init(_ columns: inout ColumnReader) throws(StorageFailure) {
        self.share = try columns.next()
        self.origin = try columns.next()
    }

    package func write(to columns: inout ColumnWriter) {
        columns.append(self.share)
        columns.append(self.origin)
    }
}

/// How far the tokens have expired that a reader has of a zone.
package struct TokenExpiryRow: TableRow {
    package static let table = Table(
        "share_expiry",
        columns: [.integer("database"), .integer("zone"), .integer("reader"), .integer("through")],
        key: ["database", "zone", "reader"]
    )

    package var database: DatabaseID
    package var zone: Int64
    /// The shared database.
    package var reader: DatabaseID
    /// Tokens are good from this position on.
    package var through: Int64

    package init(zone: ZoneKey, reader: DatabaseID, through: Int64) {
        self.database = zone.database
        self.zone = zone.number
        self.reader = reader
        self.through = through
    }

    package init(_ columns: inout ColumnReader) throws(StorageFailure) {
        self.database = try columns.next()
        self.zone = try columns.next()
        self.reader = try columns.next()
        self.through = try columns.next()
    }

    package func write(to columns: inout ColumnWriter) {
        columns.append(self.database)
        columns.append(self.zone)
        columns.append(self.reader)
        columns.append(self.through)
    }
}

/// The target of a share's URL, by its token.
///
/// The row of a root for every user stays if its share goes, and goes with the root.
package struct ShareTokenRow: TableRow {
    package static let table = Table(
        "share_token",
        columns: [
            .text("token"), .integer("database"), .integer("zone"), .text("root"), .text("participant"),
        ],
        key: ["token"],
        indexes: [.unique("database", "zone", "root", "participant")]
    )
    package static let byRoot = Self.index(on: "database", "zone", "root", "participant")

    package var token: String
    package var database: DatabaseID
    package var zone: Int64
    /// Empty if the zone is shared as a whole.
    package var root: String
    /// The participant for whom the URL is; empty if it is for every user.
    package var participant: String

    package init(token: String, zone: ZoneKey, root: String, participant: String) {
        self.token = token
        self.database = zone.database
        self.zone = zone.number
        self.root = root
        self.participant = participant
    }

    package init(_ columns: inout ColumnReader) throws(StorageFailure) {
        self.token = try columns.next()
        self.database = try columns.next()
        self.zone = try columns.next()
        self.root = try columns.next()
        self.participant = try columns.next()
    }

    package func write(to columns: inout ColumnWriter) {
        columns.append(self.token)
        columns.append(self.database)
        columns.append(self.zone)
        columns.append(self.root)
        columns.append(self.participant)
    }

    package var zoneKey: ZoneKey { ZoneKey(database: self.database, number: self.zone) }
}

extension ShareNumber: ColumnConvertible {}

/// An unknown number gives no right.
extension SharePermission: ColumnConvertible {
    package init?(columnValue: ColumnValue) {
        guard case .integer(let number) = columnValue else { return nil }
        self = UInt8(exactly: number).flatMap { Self(rawValue: $0) } ?? .unknown
    }

    package var columnValue: ColumnValue { .integer(Int64(self.rawValue)) }
}

extension ShareRole: ColumnConvertible {
    package init?(columnValue: ColumnValue) {
        guard case .integer(let number) = columnValue else { return nil }
        self = UInt8(exactly: number).flatMap { Self(rawValue: $0) } ?? .unknown
    }

    package var columnValue: ColumnValue { .integer(Int64(self.rawValue)) }
}
