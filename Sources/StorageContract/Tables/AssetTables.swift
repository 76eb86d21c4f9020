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
    package static let complete = Self.index(on: "database", "sha256", "size")
    package static let uploading = Self.index(on: "database", "sha256", "size", "uploader")
    /// By the beginning of the grace time.
    package static let unnamed = Self.index(on: "since_ms")
    package static let going = Self.index(on: "number", where: "state")

    package var number = AssetNumber(rawValue: 0)
    package var database: DatabaseID
    package var sha256: [UInt8]
    package var size: Int64
    package var state: State
    /// The author of the upload; 0 if it is the owner of a private database.
    package var uploader: Int64
    /// When its grace time began; `nil` while a record names it, and when it is going.
    ///
    /// Released assets are behind all others in the index: `releasedMilliseconds` is added to the
    /// time.
    package var sinceMilliseconds: Int64?
    /// Beyond the time of every clock.
    package static let releasedMilliseconds: Int64 = 1 << 53

    /// Whether records have named it, and none does any more: no client waits to save it.
    ///
    /// No quota counts it.
    package var isReleased: Bool { (self.sinceMilliseconds ?? 0) >= Self.releasedMilliseconds }

    /// The amount that it counts for, with its row and the free space of its file.
    package var counted: StoredAmount {
        guard self.state != .going, !self.isReleased else { return StoredAmount() }
        return StoredAmount(
            records: 0,
            recordBytes: 0,
            assets: 1,
            assetBytes: self.size,
            rowBytes: Int64(RowBytes.asset(self.size))
        )
    }

    /// Notes that a client has sent bytes of it, or wants to name it.
    package mutating func sent(at milliseconds: Int64) { self.sinceMilliseconds = milliseconds }

    /// Notes that the last record that named it does so no more.
    package mutating func released(at milliseconds: Int64) {
        self.sinceMilliseconds = milliseconds + Self.releasedMilliseconds
    }

    /// Notes that a record names it, or that its file is to go.
    package mutating func endGrace() { self.sinceMilliseconds = nil }

    package init(
        database: DatabaseID,
        sha256: [UInt8],
        size: Int64,
        state: State,
        uploader: Int64,
        sinceMilliseconds: Int64?
    ) {
        self.database = database
        self.sha256 = sha256
        self.size = size
        self.state = state
        self.uploader = uploader
        self.sinceMilliseconds = sinceMilliseconds
    }

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

    /// The size in a row of a file that is there; `nil` in other rows.
    package static func storedBytes(_ values: [ColumnValue]) -> Int64? {
        guard let row = try? AssetRow(values: values), row.state == .complete else { return nil }
        return row.size
    }

    package enum State: Int64, ColumnConvertible {
        case uploading = 0
        case complete = 1
        /// The file may be gone.
        case going = 2
    }
}

/// A user who has sent an asset; in a private database a participant who has sent all bytes of an
/// upload.
package struct AssetUserRow: TableRow {
    package static let table = Table(
        "asset_user",
        columns: [.integer("asset"), .integer("author")],
        key: ["asset", "author"]
    )

    package var asset: AssetNumber
    package var author: Int64

    package init(asset: AssetNumber, author: Int64) {
        self.asset = asset
        self.author = author
    }

    package init(_ columns: inout ColumnReader) throws(StorageFailure) {
        self.asset = try columns.next()
        self.author = try columns.next()
    }

    package func write(to columns: inout ColumnWriter) {
        columns.append(self.asset)
        columns.append(self.author)
    }
}

/// A record that names an asset, or a change in the history of a zone that replaced one which did.
package struct AssetUseRow: TableRow {
    package static let table = Table(
        "asset_use",
        columns: [.integer("database"), .integer("zone"), .integer("record"), .integer("asset")],
        key: ["database", "zone", "record", "asset"],
        indexes: [.lookup("asset")]
    )
    package static let byAsset = Self.index(on: "asset")

    package var database: DatabaseID
    package var zone: Int64
    /// The number of the record; of a change the opposite of its position.
    package var record: Int64
    package var asset: AssetNumber

    package init(of asset: AssetNumber, by record: RecordKey) {
        self.database = record.zone.database
        self.zone = record.zone.number
        self.record = record.number
        self.asset = asset
    }

    package init(_ columns: inout ColumnReader) throws(StorageFailure) {
        self.database = try columns.next()
        self.zone = try columns.next()
        self.record = try columns.next()
        self.asset = try columns.next()
    }

    package func write(to columns: inout ColumnWriter) {
        columns.append(self.database)
        columns.append(self.zone)
        columns.append(self.record)
        columns.append(self.asset)
    }
}

extension AssetNumber: ColumnConvertible {}
