package import RecordModel
package import StorageContract

/// Finds the files of assets that a record names, if the requester may read the record.
package struct LocateExecution {
    private let requester: Requester
    private let bytesMax: Int
    private let snapshot: any Snapshot

    package init(for requester: Requester, bytesMax: Int, snapshot: any Snapshot) {
        self.requester = requester
        self.bytesMax = bytesMax
        self.snapshot = snapshot
    }

    /// One asset a hash, in order; fails as a fetch of the record would, and with `assetNotNamed` for
    /// the first hash that the record does not name.
    package func assets(
        _ hashes: [[UInt8]],
        of id: RecordID
    ) throws(StorageFailure) -> Result<[StoredAsset], StoreError> {
        let record: Record
        switch try FetchExecution.record(
            id,
            for: self.requester,
            bytesMax: self.bytesMax,
            snapshot: self.snapshot
        ) {
        case .success(let found): record = found
        case .failure(let error): return .failure(error)
        }
        var named: [[UInt8]: Asset] = [:]
        for use in record.body.namedAssets { named[use.asset.sha256] = use.asset }
        var assets: [Asset] = []
        for (index, hash) in hashes.enumerated() {
            guard let asset = named[hash] else { return .failure(.assetNotNamed(index: index)) }
            assets.append(asset)
        }
        // In the database of the zone's owner, who pays for the bytes.
        let key = try self.snapshot.key(of: id.zone, for: self.requester)
        let numbers = try self.snapshot.assets(assets, in: key?.database ?? self.requester.database)
        var stored: [StoredAsset] = []
        for (number, asset) in zip(numbers, assets) {
            // An asset that a record names is complete.
            guard let number else { throw .unexpected(code: 0) }
            stored.append(StoredAsset(number: number, asset: asset))
        }
        return .success(stored)
    }
}
