import RecordModel
import StorageContract
import WireProtocol

/// An upload that passed admission.
package struct AdmittedUpload: Sendable {
    var assets: [Asset]
    /// The zone of the shared database with the records that are to reference the assets.
    var zone: ZoneID?
    var requester: Requester

    var totalBytes: Int64 { self.assets.reduce(0) { $0 + $1.size } }
}

/// A download that passed admission: ranges of assets.
package struct AdmittedDownload: Sendable {
    var ranges: [AssetRange]
    var record: RecordID
    var requester: Requester
}

extension RequestAdmission {
    /// `upload_assets`: requires a signed-in user, since every asset counts toward a user's quota.
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

    /// `download_assets`: the store decides whether the record may be read.
    func admit(_ operation: DownloadAssets) throws(Failure) -> AdmittedRequest {
        try self.checkCount(operation.ranges.count)
        let requester = try self.user.requester(for: operation.scope, writing: false)
        return .download(
            AdmittedDownload(ranges: operation.ranges, record: operation.record, requester: requester)
        )
    }
}
