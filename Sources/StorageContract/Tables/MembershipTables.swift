/// The share that a record belongs to; the table is called `cover`.
///
/// A row with a share that is gone means nothing, and goes in the background.
package struct MembershipRow: TableRow {
    package static let table = Table(
        "cover",
        columns: [.integer("record"), .integer("share"), .integer("since")],
        key: ["record"],
        indexes: [.lookup("share")]
    )
    package static let byShare = Self.index(on: "share")

    /// The number of the record, which is unique in the store.
    package var record: Int64
    package var share: ShareNumber
    /// The position at which the record came under the share.
    package var since: Int64

    package init(record: Int64, share: ShareNumber, since: Int64) {
        self.record = record
        self.share = share
        self.since = since
    }

    package init(_ columns: inout ColumnReader) throws(StorageFailure) {
        self.record = try columns.next()
        self.share = try columns.next()
        self.since = try columns.next()
    }

    package func write(to columns: inout ColumnWriter) {
        columns.append(self.record)
        columns.append(self.share)
        columns.append(self.since)
    }
}

/// A record that came under a share, or left it; the table is called `cover_change`.
package struct MembershipChangeRow: TableRow {
    package static let table = Table(
        "cover_change",
        columns: [
            .integer("database"), .integer("zone"), .integer("position"), .integer("share"),
            .integer("kind"), .integer("record"), .text("name"), .integer("type"),
        ],
        key: ["database", "zone", "position"]
    )

    package var database: DatabaseID
    package var zone: Int64
    package var position: Int64
    package var share: ShareNumber
    /// The column `kind`.
    package var isArrival: Bool
    package var record: Int64
    package var name: String
    /// The number of the record type.
    package var type: Int64

    package init(_ change: MembershipChange, in zone: ZoneKey, type: Int64) {
        self.database = zone.database
        self.zone = zone.number
        self.position = change.position
        self.share = change.share
        self.isArrival = change.isArrival
        self.record = change.record
        self.name = change.name
        self.type = type
    }

    package init(_ columns: inout ColumnReader) throws(StorageFailure) {
        self.database = try columns.next()
        self.zone = try columns.next()
        self.position = try columns.next()
        self.share = try columns.next()
        self.isArrival = try columns.next()
        self.record = try columns.next()
        self.name = try columns.next()
        self.type = try columns.next()
    }

    package func write(to columns: inout ColumnWriter) {
        columns.append(self.database)
        columns.append(self.zone)
        columns.append(self.position)
        columns.append(self.share)
        columns.append(self.isArrival)
        columns.append(self.record)
        columns.append(self.name)
        columns.append(self.type)
    }
}

/// A share that is gone, and may have memberships left.
package struct ShareRemovalRow: TableRow {
    package static let table = Table("share_removal", columns: [.integer("share")], key: ["share"])

    package var share: ShareNumber

    package init(share: ShareNumber) { self.share = share }

    package init(_ columns: inout ColumnReader) throws(StorageFailure) {
        self.share = try columns.next()
    }

    package func write(to columns: inout ColumnWriter) { columns.append(self.share) }
}
