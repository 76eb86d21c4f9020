import RecordModel

/// A change of a record in the history of its zone, with the replaced record; the table is called
/// `past`.
///
/// Every change of a zone has a row, from where its history begins (`PastZoneRow`) until it is too
/// old. Shares and the records of users have none.
package struct PastRow: TableRow {
    package static let table = Table(
        "past",
        columns: [
            .integer("database"), .integer("zone"), .integer("position"), .integer("changed_ms"),
            .integer("author"), .optional(.bytes("installation")), .integer("kind"),
            .integer("record"), .text("name"), .integer("type"), .optional(.integer("before")),
            .integer("created_ms"), .integer("modified_ms"), .integer("creator"), .integer("modifier"),
            .optional(.text("parent")), .bytes("body"),
        ],
        key: ["database", "zone", "position"]
    )

    package var database: DatabaseID
    package var zone: Int64
    /// The position of the change.
    package var position: Int64
    package var changedMilliseconds: Int64
    /// The number of the user who made the change.
    package var author: Int64
    /// The installation of the user that made it; `nil` if it did not say.
    package var installation: [UInt8]?
    package var kind: RecordChangeKind
    /// The number of the record.
    package var record: Int64
    package var name: String
    /// The number of the record type.
    package var type: Int64
    /// The position of the replaced record; `nil` if there was none, and the rest is empty then.
    package var before: Int64?
    package var createdMilliseconds: Int64 = 0
    package var modifiedMilliseconds: Int64 = 0
    package var creator: Int64 = 0
    package var modifier: Int64 = 0
    package var parent: String?
    package var body: [UInt8] = []

    package init(_ columns: inout ColumnReader) throws(StorageFailure) {
        self.database = try columns.next()
        self.zone = try columns.next()
        self.position = try columns.next()
        self.changedMilliseconds = try columns.next()
        self.author = try columns.next()
        self.installation = try columns.next()
        self.kind = try columns.next()
        self.record = try columns.next()
        self.name = try columns.next()
        self.type = try columns.next()
        self.before = try columns.next()
        self.createdMilliseconds = try columns.next()
        self.modifiedMilliseconds = try columns.next()
        self.creator = try columns.next()
        self.modifier = try columns.next()
        self.parent = try columns.next()
        self.body = try columns.next()
    }

    /// A change that replaced nothing, until the caller fills in the replaced record.
    package init(in zone: ZoneKey, at position: Int64, kind: RecordChangeKind, name: String, record: Int64) {
        self.database = zone.database
        self.zone = zone.number
        self.position = position
        self.changedMilliseconds = 0
        self.author = 0
        self.kind = kind
        self.record = record
        self.name = name
        self.type = 0
    }

    package func write(to columns: inout ColumnWriter) {
        columns.append(self.database)
        columns.append(self.zone)
        columns.append(self.position)
        columns.append(self.changedMilliseconds)
        columns.append(self.author)
        columns.append(self.installation)
        columns.append(self.kind)
        columns.append(self.record)
        columns.append(self.name)
        columns.append(self.type)
        columns.append(self.before)
        columns.append(self.createdMilliseconds)
        columns.append(self.modifiedMilliseconds)
        columns.append(self.creator)
        columns.append(self.modifier)
        columns.append(self.parent)
        columns.append(self.body)
    }
}

/// The beginning of a zone's history; the table is called `past_zone`.
package struct PastZoneRow: TableRow {
    package static let table = Table(
        "past_zone",
        columns: [
            .integer("database"), .integer("zone"), .integer("since"), .integer("since_ms"),
            .integer("life"),
        ],
        key: ["database", "zone"]
    )

    package var database: DatabaseID
    package var zone: Int64
    /// Every change behind this position has a row in `PastRow.table`; rows up to it mean nothing.
    package var since: Int64
    /// No change behind `since` was made before this time.
    package var sinceMilliseconds: Int64
    /// When the container began to keep a history: of an earlier life the row means nothing.
    package var life: Int64

    package init(_ zone: ZoneKey, since: Int64, sinceMilliseconds: Int64, life: Int64) {
        self.database = zone.database
        self.zone = zone.number
        self.since = since
        self.sinceMilliseconds = sinceMilliseconds
        self.life = life
    }

    package init(_ columns: inout ColumnReader) throws(StorageFailure) {
        self.database = try columns.next()
        self.zone = try columns.next()
        self.since = try columns.next()
        self.sinceMilliseconds = try columns.next()
        self.life = try columns.next()
    }

    package func write(to columns: inout ColumnWriter) {
        columns.append(self.database)
        columns.append(self.zone)
        columns.append(self.since)
        columns.append(self.sinceMilliseconds)
        columns.append(self.life)
    }
}

/// A zone that begins its history anew while the old history still exists; the table is called
/// `past_removal`.
package struct PastRemovalRow: TableRow {
    package static let table = Table(
        "past_removal",
        columns: [.integer("database"), .integer("zone")],
        key: ["database", "zone"]
    )

    package var database: DatabaseID
    package var zone: Int64

    package init(_ zone: ZoneKey) {
        self.database = zone.database
        self.zone = zone.number
    }

    package init(_ columns: inout ColumnReader) throws(StorageFailure) {
        self.database = try columns.next()
        self.zone = try columns.next()
    }

    package func write(to columns: inout ColumnWriter) {
        columns.append(self.database)
        columns.append(self.zone)
    }

    package var key: ZoneKey { ZoneKey(database: self.database, number: self.zone) }
}

/// The kind of a change.
package enum RecordChangeKind: Int64, Hashable, Sendable, ColumnConvertible {
    case created = 0
    case updated = 1
    case deleted = 2
}
