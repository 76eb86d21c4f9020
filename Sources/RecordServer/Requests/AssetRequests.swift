import RecordModel
import RecordStore
import WireProtocol

/// Assets that somebody wants to upload.
struct AdmittedUpload: Sendable {
    var assets: [Asset]
    var requester: Requester
}

/// Ranges of assets that somebody wants to have.
struct AdmittedDownload: Sendable {
    var ranges: [AssetRange]
    var record: RecordID
    var requester: Requester
}

extension Admission {
    /// `upload_assets`: somebody who is signed in, since every asset has somebody to count for.
    func admit(_ operation: UploadAssets) throws(Failure) -> AdmittedRequest {
        try self.checkCount(operation.assets.count)
        guard operation.scope != .shared else { throw Failure(StoreError.databaseNotAllowed) }
        let requester = try self.user.requester(for: operation.scope, writing: true)
        return .upload(AdmittedUpload(assets: operation.assets, requester: requester))
    }

    /// `download_assets`: whether the record may be read is the store's to say.
    func admit(_ operation: DownloadAssets) throws(Failure) -> AdmittedRequest {
        try self.checkCount(operation.ranges.count)
        let requester = try self.user.requester(for: operation.scope, writing: false)
        return .download(
            AdmittedDownload(ranges: operation.ranges, record: operation.record, requester: requester)
        )
    }
}
