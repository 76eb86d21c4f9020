import RecordModel
import RecordStore
import WireProtocol

/// Assets that somebody wants to upload.
package struct AdmittedUpload: Sendable {
    var assets: [Asset]
    /// In the shared database: where they are to be named.
    var zone: ZoneID?
    var requester: Requester

    var totalBytes: Int64 { self.assets.reduce(0) { $0 + $1.size } }
}

/// Ranges of assets that somebody wants to have.
package struct AdmittedDownload: Sendable {
    var ranges: [AssetRange]
    var record: RecordID
    var requester: Requester
}

extension Admission {
    /// `upload_assets`: somebody who is signed in, since every asset has somebody to count for.
    func admit(_ operation: UploadAssets) throws(Failure) -> AdmittedRequest {
        try self.checkCount(operation.assets.count)
        guard operation.scope != .shared || operation.zone != nil else {
            throw Failure(
                code: .invalidArguments,
                message: "an upload to the shared database names a zone",
                retry: .never
            )
        }
        let requester = try self.user.requester(for: operation.scope, writing: true)
        return .upload(AdmittedUpload(assets: operation.assets, zone: operation.zone, requester: requester))
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
