/// An asset or an upload.
package struct AssetRow: TableRow {
    package static let table = Table(
        "asset",
        columns: [
            .integer("number"), .integer("database"), .bytes("sha256"), .integer("size"), .integer("state"),
            .integer("uploader"), .optional(.integer("since_ms")),
        ],
        key: ["number"],
        numbering: .numberedOnce,
        indexes: [
            .unique("database", "sha256", "size").only(where: "state", is: 1),
            .unique("database", "sha256", "size", "uploader").only(where: "state", is: 0),
            .lookup("since_ms").only(where: "since_ms"), .lookup("number").only(where: "state", is: 2),
        ]
    )
    static let complete = Self.index(on: "database", "sha256", "size")
    static let uploading = Self.index(on: "database", "sha256", "size", "uploader")

    var number: Int64 = 0
    var database: DatabaseID
    var sha256: [UInt8]
    var size: Int64
    var state: State
    /// The author whose upload it is; 0 if it is the owner of a private database.
    var uploader: Int64
    /// When its grace time began; `nil` while a record names it, and when it is going.
    var sinceMilliseconds: Int64?

    package init(_ columns: inout ColumnReader) throws(StorageFailure) {
        self.number = try columns.next()
        self.database = try columns.next()
        self.sha256 = try columns.next()
        self.size = try columns.next()
        self.state = try columns.next()
        self.uploader = try columns.next()
        self.sinceMilliseconds = try columns.next()
    }

    package func write(to columns: inout ColumnWriter) {
        columns.append(self.number)
        columns.append(self.database)
        columns.append(self.sha256)
        columns.append(self.size)
        columns.append(self.state)
        columns.append(self.uploader)
        columns.append(self.sinceMilliseconds)
    }

    enum State: Int64, ColumnConvertible {
        case uploading = 0
        case complete = 1
        /// The file may be gone.
        case going = 2
    }
}

/// A user who has sent an asset.
package struct AssetUserRow: TableRow {
    package static let table = Table(
        "asset_user",
        columns: [.integer("asset"), .integer("author")],
        key: ["asset", "author"]
    )

    var asset: Int64
    var author: Int64

    package init(_ columns: inout ColumnReader) throws(StorageFailure) {
        self.asset = try columns.next()
        self.author = try columns.next()
    }

    package func write(to columns: inout ColumnWriter) {
        columns.append(self.asset)
        columns.append(self.author)
    }
}
