import GRDBSQLite
import RecordModel
import RecordStore

extension ReadConnection {
    /// The assets with these hashes that a record names, in order.
    func assets(
        _ hashes: [[UInt8]],
        of id: RecordID,
        for requester: Requester,
        bytesMax: Int
    ) throws(StorageFailure) -> Result<[StoredAsset], StoreError> {
        try self.snapshot { () throws(StorageFailure) in
            let record: Record
            switch try self.outcomes([id], desiredKeys: nil, for: requester, bytesMax: bytesMax) {
            case .success(let outcomes):
                switch outcomes[0] {
                case .record(let found): record = found
                case .failed(let error): return .failure(error)
                case .zone, .shareMetadata, .identity: return .failure(.internalFault)
                }
            case .failure(let error): return .failure(error)
            }
            var named: [[UInt8]: Asset] = [:]
            for use in record.body.namedAssets { named[use.asset.sha256] = use.asset }
            var found: [StoredAsset] = []
            let database = try self.key(of: id.zone, requester)?.database ?? requester.database
            for (index, hash) in hashes.enumerated() {
                guard let asset = named[hash] else { return .failure(.assetNotNamed(index: index)) }
                let statement = self.completeAsset
                statement.bind(1, database.rawValue)
                statement.bind(2, asset.sha256)
                statement.bind(3, asset.size)
                // What a record names is complete.
                guard try statement.step() else { throw .unexpected(code: SQLITE_NOTFOUND) }
                defer { statement.reset() }
                let number = AssetNumber(rawValue: statement.integer(0))
                found.append(StoredAsset(number: number, asset: asset))
            }
            return .success(found)
        }
    }
}
