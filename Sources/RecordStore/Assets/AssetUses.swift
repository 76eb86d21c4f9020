package import StorageContract

/// The records that name an asset: while none does, its grace time runs.
extension UsageTransaction {
    /// Notes that a record names an asset that it did not name.
    func addUse(of number: AssetNumber, by record: RecordKey) throws(StorageFailure) {
        let use = AssetUseRow(of: number, by: record)
        if try self.row(AssetUseRow.byKey, use.database, use.zone, use.record, use.asset) == nil {
            try self.put(use)
            self.count(rowBytes: RowBytes.assetUse, in: record.zone)
        }
        guard let asset = try self.row(AssetRow.byKey, number), asset.sinceMilliseconds != nil else { return }
        try self.change(asset) { $0.endGrace() }
    }

    /// Notes that a record does not name an asset any more: if it was the last, the grace time begins.
    func removeUse(of number: AssetNumber, by record: RecordKey) throws(StorageFailure) {
        try self.remove([AssetUseRow(of: number, by: record)])
        self.count(rowBytes: -RowBytes.assetUse, in: record.zone)
    }

    /// Notes that a record is gone.
    func removeUses(by record: RecordKey) throws(StorageFailure) {
        let zone = record.zone
        let uses = try self.rows(
            RowRange(AssetUseRow.byKey, zone.database, zone.number, record.number)
        )
        guard !uses.isEmpty else { return }
        try self.remove(uses)
        self.count(rowBytes: -RowBytes.assetUse * uses.count, in: zone)
    }

    /// Removes some uses of a zone that was deleted, and returns how many.
    ///
    /// Until the zone is swept, another counter has their bytes.
    package func removeUses(inZone zone: ZoneKey, limit: Int) throws(StorageFailure) -> Int {
        let uses = try self.rows(
            RowRange(AssetUseRow.byKey, zone.database, zone.number),
            limit: limit
        )
        try self.remove(uses)
        return uses.count
    }

    private func remove(_ uses: [AssetUseRow]) throws(StorageFailure) {
        for use in uses {
            try self.delete(use)
            guard try !self.isNamed(use.asset), let asset = try self.row(AssetRow.byKey, use.asset),
                asset.state == .complete
            else { continue }
            try self.change(asset) { $0.released(at: self.nowMilliseconds) }
        }
    }
}
