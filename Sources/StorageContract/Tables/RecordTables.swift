package import RecordModel

/// The number of a user in rows of records.
package struct AuthorRow: TableRow {
    package static let table = Table(
        "author",
        columns: [.integer("number"), .text("record_name")],
        key: ["number"],
        numbering: .numbered,
        indexes: [.unique("record_name")]
    )
    package static let byRecordName = Self.index(on: "record_name")

    package var number: Int64 = 0
    package var recordName: String

    package init(recordName: String) { self.recordName = recordName }

    package init(_ columns: inout ColumnReader) throws(StorageFailure) {
        self.number = try columns.next()
        self.recordName = try columns.next()
    }

    package func write(to columns: inout ColumnWriter) {
        columns.append(self.number)
        columns.append(self.recordName)
    }
}

/// The outcome of a request, for its repetitions.
package struct RequestRow: TableRow {
    package static let table = Table(
        "request",
        columns: [.integer("database"), .bytes("id"), .bytes("outcome")],
        key: ["database", "id"]
    )

    package var database: DatabaseID
    package var id: [UInt8]
    /// As `StoredOutcome` encodes it.
    package var outcome: [UInt8]

    package init(database: DatabaseID, id: RequestID, outcome: [UInt8]) {
        self.database = database
        self.id = id.bytes
        self.outcome = outcome
    }

    package init(_ columns: inout ColumnReader) throws(StorageFailure) {
        self.database = try columns.next()
        self.id = try columns.next()
        self.outcome = try columns.next()
    }

    package func write(to columns: inout ColumnWriter) {
        columns.append(self.database)
        columns.append(self.id)
        columns.append(self.outcome)
    }
}

/// A zone that is gone.
package struct ZoneTombstoneRow: TableRow {
    package static let table = Table(
        "zone_tombstone",
        columns: [
            .integer("database"), .integer("position"), .text("name"), .integer("number"),
            .integer("deleted_ms"),
        ],
        key: ["database", "position"]
    )

    package var database: DatabaseID
    package var position: Int64
    package var name: String
    package var number: Int64
    package var deletedMilliseconds: Int64

    package init(
        database: DatabaseID,
        position: Int64,
        name: String,
        number: Int64,
        deletedMilliseconds: Int64
    ) {
        self.database = database
        self.position = position
        self.name = name
        self.number = number
        self.deletedMilliseconds = deletedMilliseconds
    }

    package init(_ columns: inout ColumnReader) throws(StorageFailure) {
        self.database = try columns.next()
        self.position = try columns.next()
        self.name = try columns.next()
        self.number = try columns.next()
        self.deletedMilliseconds = try columns.next()
    }

    package func write(to columns: inout ColumnWriter) {
        columns.append(self.database)
        columns.append(self.position)
        columns.append(self.name)
        columns.append(self.number)
        columns.append(self.deletedMilliseconds)
    }
}

/// A zone that is gone, while its contents are still there.
package struct SweepRow: TableRow {
    package static let table = Table(
        "sweep",
        columns: [.integer("database"), .integer("zone"), .integer("byte_count")],
        key: ["database", "zone"]
    )

    package var database: DatabaseID
    package var zone: Int64
    /// The bytes that the rows of the zone count for until they are swept.
    package var bytes: Int64

    package init(database: DatabaseID, zone: Int64, bytes: Int64) {
        self.database = database
        self.zone = zone
        self.bytes = bytes
    }

    package init(_ columns: inout ColumnReader) throws(StorageFailure) {
        self.database = try columns.next()
        self.zone = try columns.next()
        self.bytes = try columns.next()
    }

    package func write(to columns: inout ColumnWriter) {
        columns.append(self.database)
        columns.append(self.zone)
        columns.append(self.bytes)
    }
}
