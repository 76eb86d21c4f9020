import StorageContract

/// Removes the entries that dropped indexes have left, a piece in each transaction, zone by zone.
enum IndexRemoval {
    static let entriesMax = 1_000
    /// Maximum number of zones that one transaction reads.
    static let zonesMax = 100

    /// Removes some of one index.
    ///
    /// - Returns: Whether there was nothing left.
    static func step(in rows: some HousekeepingTransaction) throws(StorageFailure) -> Bool {
        let transaction = rows.transaction
        guard var removal = try transaction.rows(RowRange(IndexRemovalRow.byKey), limit: 1).first
        else { return true }
        let zones = try self.zones(from: removal, in: transaction)
        var left = self.entriesMax
        for zone in zones {
            let key = ZoneKey(database: zone.database, number: zone.number)
            let removed = try rows.removeEntries(ofIndex: removal.index, in: key, limit: left)
            if removed.count > 0 { transaction.count(rowBytes: -removed.bytes, in: key) }
            left -= removed.count
            guard left > 0 else {
                removal.goOn(at: zone)
                try transaction.put(removal)
                return false
            }
        }
        if zones.count == self.zonesMax, let last = zones.last {
            removal.goOn(at: last)
            try transaction.put(removal)
        } else {
            try transaction.delete(removal)
        }
        return false
    }

    /// The zones where the removal goes on, the first of them included.
    private static func zones(
        from removal: IndexRemovalRow,
        in transaction: any WriteTransaction
    ) throws(StorageFailure) -> [ZoneRow] {
        let first = try transaction.row(ZoneRow.byKey, removal.database, removal.zoneName)
        let others = try transaction.rows(
            RowRange(ZoneRow.byKey).after(removal.database, removal.zoneName),
            limit: self.zonesMax - (first == nil ? 0 : 1)
        )
        return (first.map { [$0] } ?? []) + others
    }
}

extension IndexRemovalRow {
    fileprivate mutating func goOn(at zone: ZoneRow) {
        self.database = zone.database
        self.zoneName = zone.name
    }
}
