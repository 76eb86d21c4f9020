/// The progress of an installation of a user in a zone.
package struct InstallationSeenRow: TableRow {
    package static let table = Table(
        "installation_seen",
        columns: [
            .integer("database"), .integer("zone"), .text("user"), .bytes("installation"),
            .integer("position"), .integer("sent"), .integer("skipped"), .integer("at_ms"),
        ],
        key: ["database", "zone", "user", "installation"],
        indexes: [.lookup("database", "zone", "at_ms"), .lookup("user")]
    )
    package static let byTime = Self.index(on: "database", "zone", "at_ms")
    package static let byUser = Self.index(on: "user")

    /// The database of the records: the owner's, if the zone is shared.
    package var database: DatabaseID
    package var zone: Int64
    /// User record name.
    package var user: String
    /// 16 bytes.
    package var installation: [UInt8]
    package var seen: SeenPosition

    package init(_ seen: SeenPosition, of key: SeenKey) {
        self.database = key.zone.database
        self.zone = key.zone.number
        self.user = key.user
        self.installation = key.installation
        self.seen = seen
    }

    package init(_ columns: inout ColumnReader) throws(StorageFailure) {
        self.database = try columns.next()
        self.zone = try columns.next()
        self.user = try columns.next()
        self.installation = try columns.next()
        self.seen = SeenPosition(
            position: try columns.next(),
            sent: try columns.next(),
            skipped: try columns.next(),
            atMilliseconds: try columns.next()
        )
    }

    package func write(to columns: inout ColumnWriter) {
        columns.append(self.database)
        columns.append(self.zone)
        columns.append(self.user)
        columns.append(self.installation)
        columns.append(self.seen.position)
        columns.append(self.seen.sent)
        columns.append(self.seen.skipped)
        columns.append(self.seen.atMilliseconds)
    }

    package var key: SeenKey {
        SeenKey(
            zone: ZoneKey(database: self.database, number: self.zone),
            user: self.user,
            installation: self.installation
        )
    }
}
