import RecordModel
import StorageContract

/// Reads of databases and zones for feeds, from their rows.
extension TableReader {
    /// Reads where a database is; `nil` if there is no such database.
    func state(of database: DatabaseID) throws(StorageFailure) -> FeedState? {
        guard let row = try self.row(DatabaseRow.byKey, database) else { return nil }
        return FeedState(
            position: row.position,
            epoch: row.epoch,
            tombstonesGoneThrough: row.tombstonesGoneThrough
        )
    }

    /// Finds a zone with its counters and with the client token of the database that is asked.
    ///
    /// `nil` if it is not there. In a shared database the counters are those of the owner's zone.
    func feedZone(named name: String, in database: DatabaseID) throws(StorageFailure) -> FeedZone? {
        guard let row = try self.row(ZoneRow.byKey, database, name) else { return nil }
        guard let target = row.targetDatabase, let number = row.targetZone else { return FeedZone(row) }
        guard let owners = try self.row(ZoneRow.byNumber, target, number) else { return nil }
        var zone = FeedZone(owners)
        zone.clientToken = row.clientToken ?? []
        return zone
    }

    /// Lists zones by name, from this name on; at most `limit`.
    func zones(
        of database: DatabaseID,
        from name: String,
        limit: Int
    ) throws(StorageFailure) -> [NamedZone] {
        var rows: [ZoneRow] = []
        if !name.isEmpty, limit > 0, let first = try self.row(ZoneRow.byKey, database, name) {
            rows.append(first)
        }
        let range = RowRange(ZoneRow.byKey, database)
        rows += try self.rows(name.isEmpty ? range : range.after(name), limit: limit - rows.count)
        return rows.map { NamedZone(name: $0.name, key: $0.contents) }
    }

    /// Reads whether a zone or each of its records has a key of its own.
    func encryptionScope(of zone: ZoneKey) throws(StorageFailure) -> EncryptionScope {
        try self.row(ZoneRow.byNumber, zone.database, zone.number)?.encryptionScope ?? .perRecord
    }

    /// The same of some zones, in their order.
    func encryptionScopes(of zones: [ZoneKey]) throws(StorageFailure) -> [EncryptionScope] {
        try self.rows(ZoneRow.byNumber, keys: zones.map { ZoneRow.byNumber.key($0.database, $0.number) })
            .map { $0?.encryptionScope ?? .perRecord }
    }

    /// Counts the zones of a database, up to `limit`.
    func countOfZones(in database: DatabaseID, limit: Int) throws(StorageFailure) -> Int {
        try self.count(RowRange(ZoneRow.byNumber, database), limit: limit)
    }
}

extension TableWriter {
    /// Stores the token that a client sent with a change of a zone: for the database of the
    /// requester alone, which may be a shared one.
    func setClientToken(
        _ token: [UInt8],
        of zone: ZoneKey,
        for database: DatabaseID
    ) throws(StorageFailure) {
        let found =
            database == zone.database
            ? try self.row(ZoneRow.byNumber, database, zone.number)
            : try self.row(ZoneRow.byTarget, database, zone.database, zone.number)
        guard var row = found else { return }
        row.clientToken = token
        try self.put(row)
    }
}

extension FeedZone {
    fileprivate init(_ row: ZoneRow) {
        self.init(
            name: row.name,
            key: row.key,
            position: row.position,
            recordCount: row.records,
            byteCount: row.recordBytes
        )
        self.clientToken = row.clientToken ?? []
    }
}
