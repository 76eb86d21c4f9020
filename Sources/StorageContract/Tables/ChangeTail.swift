/// The zones of a database that changed behind a position, as its rows tell, in the order of the
/// database.
///
/// The observer of commits is notified of each change as it happens. It gets a position alone if
/// the engine does not know more: another process or node has written, or a transaction changed too
/// much. The router then reads the tail from the position up to which it knows everything. If an
/// engine reports nothing but positions, the router reads tails alone. Changes within a zone are in
/// its feed (`FeedExecution`).
package struct ChangeTail: Hashable, Sendable {
    /// The last change of a zone.
    package struct ZoneChange: Hashable, Sendable {
        package var position: Int64
        /// The name as it is stored: in a shared database with its owner.
        package var zone: String
        package var isDeletion: Bool

        package init(position: Int64, zone: String, isDeletion: Bool) {
            self.position = position
            self.zone = zone
            self.isDeletion = isDeletion
        }
    }

    /// The end of the tail: the last position that the database has taken.
    package var position: Int64
    /// At ascending positions; a zone that was deleted and made again comes twice.
    ///
    /// `nil` if the changes are no longer known or exceed the maximum: then every zone may have
    /// changed.
    package var zones: [ZoneChange]?

    /// The maximum number of changed zones that a tail names.
    package static let zonesMax = 1_000

    package init(position: Int64, zones: [ZoneChange]?) {
        self.position = position
        self.zones = zones
    }

    /// Reads the tail; `nil` if there is no such database.
    package init?(
        of database: DatabaseID,
        after position: Int64,
        in rows: some TableReader,
        zonesMax: Int = zonesMax
    ) throws(StorageFailure) {
        guard let row = try rows.row(DatabaseRow.byKey, database) else { return nil }
        self.position = row.position
        // A position is of no use if it belongs to another life of the database, or if its
        // tombstones are gone.
        guard position <= row.position, position >= row.tombstonesGoneThrough else { return }
        let zones = try rows.rows(RowRange(ZoneRow.byKey, database), limit: zonesMax + 1)
        let deletions = try rows.rows(
            RowRange(ZoneTombstoneRow.byKey, database).after(position),
            limit: zonesMax + 1
        )
        guard zones.count <= zonesMax, deletions.count <= zonesMax else { return }
        var changes: [ZoneChange] = []
        for zone in zones where zone.position > position {
            changes.append(ZoneChange(position: zone.position, zone: zone.name, isDeletion: false))
        }
        for deletion in deletions {
            changes.append(ZoneChange(position: deletion.position, zone: deletion.name, isDeletion: true))
        }
        self.zones = changes.sorted { $0.position < $1.position }
    }
}
