import RecordModel
import StorageContract

/// Finds assets, their uploaders, and the records that name them.
extension TableReader {
    /// Finds the assets with complete bytes in a database: one element an asset, in order.
    func assets(_ assets: [Asset], in database: DatabaseID) throws(StorageFailure) -> [AssetNumber?] {
        let keys = assets.map {
            [database.columnValue, $0.sha256.columnValue, $0.size.columnValue]
        }
        var numbers: [AssetNumber?] = []
        for values in try self.rows(of: AssetRow.table, by: AssetRow.complete.index, keys: keys) {
            numbers.append(
                try values.map { (values) throws(StorageFailure) in try AssetRow(values: values).number }
            )
        }
        return numbers
    }

    /// Finds the asset of a database, its bytes complete.
    func asset(_ asset: Asset, in database: DatabaseID) throws(StorageFailure) -> AssetNumber? {
        try self.assetRow(asset, in: database)?.number
    }

    func assetRow(_ asset: Asset, in database: DatabaseID) throws(StorageFailure) -> AssetRow? {
        try self.row(AssetRow.complete, database, asset.sha256, asset.size)
    }

    /// Finds an upload that has begun and is not complete: in a public database the user's, in a
    /// private one the owner's without a user and otherwise the participant's.
    ///
    /// A participant's upload has all its bytes if the participant has sent them (`isAsset`). It is
    /// complete when a record names it.
    func upload(
        of asset: Asset,
        by user: String?,
        in database: DatabaseID
    ) throws(StorageFailure) -> AssetRow? {
        var uploader: Int64 = 0
        if let user {
            guard let author = try self.authorNumber(ofUser: user) else { return nil }
            uploader = author
        }
        return try self.row(AssetRow.uploading, database, asset.sha256, asset.size, uploader)
    }

    /// Says whether a user of a public database has sent an asset, or a participant of a share all
    /// bytes of an upload.
    func isAsset(_ number: AssetNumber, sentBy user: String) throws(StorageFailure) -> Bool {
        guard let author = try self.authorNumber(ofUser: user) else { return false }
        return try self.row(AssetUserRow.byKey, number, author) != nil
    }

    /// Finds the records of a zone that name an asset; at most `limit`.
    ///
    /// Changes in the history of the zone that name it are left out.
    func records(
        naming asset: AssetNumber,
        in zone: ZoneKey,
        limit: Int
    ) throws(StorageFailure) -> [RecordKey] {
        let uses = RowRange(AssetUseRow.byAsset, asset, zone.database, zone.number).after(Int64(0))
        return try self.rows(uses, limit: limit)
            .map { RecordKey(zone: zone, number: $0.record) }
    }
}
