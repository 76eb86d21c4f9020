package import RecordModel

/// Assets as their rows have them, for copies of a store as well.
extension TableReader {
    /// Says whether a record names an asset, or the history of a zone.
    package func isNamed(_ asset: AssetNumber) throws(StorageFailure) -> Bool {
        try self.count(RowRange(AssetUseRow.byAsset, asset), limit: 1) > 0
    }

    /// Lists assets with complete bytes, in the order of their numbers, behind a number; at most
    /// `limit`.
    package func storedAssets(
        after number: AssetNumber?,
        limit: Int
    ) throws(StorageFailure) -> [StoredAsset] {
        var stored: [StoredAsset] = []
        var last = number ?? AssetNumber(rawValue: 0)
        while stored.count < limit {
            let wanted = limit - stored.count
            let page = try self.rows(RowRange(AssetRow.byKey).after(last), limit: wanted)
            for row in page where row.state == .complete { stored.append(row.stored) }
            guard page.count == wanted, let end = page.last else { break }
            last = end.number
        }
        return stored
    }

    /// Says whether there is an asset with the number, and its bytes are complete.
    package func isStored(_ number: AssetNumber) throws(StorageFailure) -> Bool {
        try self.row(AssetRow.byKey, number)?.state == .complete
    }
}

extension AssetRow {
    var stored: StoredAsset { StoredAsset(number: self.number, asset: self.asset) }

    package var asset: Asset { Asset(sha256: self.sha256, size: self.size) }
}

/// A copy of a store that no server uses, in which counters are rows as all else.
extension TableWriter {
    /// Leaves it to the next server to forget an asset that has no file, unless a record names it.
    ///
    /// - Returns: Whether no record does.
    package func forgetLostAsset(_ number: AssetNumber) throws(StorageFailure) -> Bool {
        guard let asset = try self.row(AssetRow.byKey, number), asset.state == .complete,
            try !self.isNamed(number), var database = try self.row(DatabaseRow.byKey, asset.database)
        else { return false }
        database.stored.add(asset.counted.negated)
        try self.markGoing(asset)
        try self.put(database)
        return true
    }

    package func markGoing(_ row: AssetRow) throws(StorageFailure) {
        var row = row
        row.state = .going
        row.endGrace()
        try self.put(row)
        try self.delete(RowRange(AssetUserRow.byKey, row.number))
    }
}
