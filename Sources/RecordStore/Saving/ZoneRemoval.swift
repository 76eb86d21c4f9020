import StorageContract

extension WriteTransaction {
    /// Creates a zone that is absent.
    func createZone(
        named name: String,
        in database: DatabaseID,
        at position: Int64
    ) throws(StorageFailure) {
        _ = try self.insertZone(named: name, in: database, at: position)
        self.count(rowBytes: RowBytes.zone(named: name), in: database)
        self.note(.zoneCreated(name), at: position, in: database)
    }

    /// Deletes a zone with everything in it, and the subscriptions that go with it.
    ///
    /// Its shares end first, so that their participants are notified. The bytes of its contents
    /// count as rows until the sweep has removed them. Otherwise a user could fill the disk faster
    /// than it sweeps.
    func removeZone(_ zone: ZoneKey, named name: String, at position: Int64) throws(StorageFailure) {
        for share in try self.rememberedShares(in: zone).all { try self.deleteShare(share) }
        self.knowledge.shares[zone] = nil
        var growth = try self.deleteZone(zone, named: name)
        let bytes = growth.recordBytes + growth.rowBytes
        let rows = RowBytes.zoneTombstone(named: name) - RowBytes.zone(named: name)
        growth.rowBytes = growth.recordBytes + Int64(rows)
        growth.records.negate()
        growth.recordBytes.negate()
        self.count(growth, in: zone.database)
        try self.put(
            ZoneTombstoneRow(
                database: zone.database,
                position: position,
                name: name,
                number: zone.number,
                deletedMilliseconds: self.nowMilliseconds
            )
        )
        try self.put(SweepRow(database: zone.database, zone: zone.number, bytes: bytes))
        self.note(.zoneDeleted(name), at: position, in: zone.database)
        try self.deleteSubscriptions(of: zone, at: position)
    }

    /// Ends some of the shares of zones that are about to be deleted, unless one transaction may end them
    /// all.
    ///
    /// A transaction ends at most `max` shares and users who have joined them, and perhaps the users of
    /// one share more. Returns whether some ended: there may be more.
    func endSomeShares(of zones: [ZoneKey], max: Int) throws(StorageFailure) -> Bool {
        var shares: [StoredShare] = []
        for zone in zones { shares += try self.rememberedShares(in: zone).all }
        var count = 0
        for share in shares where count <= max {
            count += 1 + (try self.count(RowRange(ShareReaderRow.byShare, share.number), limit: max))
        }
        guard count > max else { return false }
        var left = max
        for share in shares where left > 0 { left -= 1 + (try self.deleteShare(share)) }
        return true
    }
}
