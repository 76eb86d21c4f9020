/// A share that is there.
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
    static let byName = Self.index(on: "database", "zone", "name")

    var number: Int64 = 0
    var database: DatabaseID
    var zone: Int64
    var name: String
    /// `nil` if the zone is shared as a whole.
    var root: String?

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

    /// The shared database of the user.
    var reader: DatabaseID
    var share: Int64
    var permission: Int64
    var role: Int64
    /// Of no account.
    var since: Int64

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
    var reader: DatabaseID
    /// Of the owner.
    var database: DatabaseID
    var zone: Int64
    /// Who made the change, as `ChangeOrigin` encodes it; `nil` if several made it, or nobody.
    var origin: [UInt8]?

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
}
