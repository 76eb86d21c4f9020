public import Foundation
private import RecordClient
private import RecordModel
private import Synchronization

// Beyond Apple's surface.
extension CKDatabase {
    /// Reads bytes of an asset from the server, without downloading the rest.
    ///
    /// Beyond CloudKit. Nothing is kept on this machine. Together with
    /// `CKOperation.Configuration.downloadsAssets` it can read the beginning of a film, or the end
    /// of a log.
    ///
    /// ```swift
    /// let start = try await database.assetData(film, of: record.recordID, in: 0..<65_536)
    /// ```
    ///
    /// - Parameters:
    ///   - asset: An asset that was fetched or saved.
    ///   - recordID: The record that names it.
    ///   - range: Which bytes, from 0, without those beyond the end. If `nil`, all.
    /// - Returns: The bytes.
    /// - Throws: `CKError`: `serverRejectedRequest` if the record no longer names the asset (fetch
    ///   the record again); `invalidArguments` if the asset was never saved (save it first);
    ///   `notAuthenticated` and `permissionFailure` as a fetch of the record; `requestRateLimited`,
    ///   `serviceUnavailable` or `networkFailure` (repeat later).
    /// - Source: beyond Apple.
    public func assetData(
        _ asset: CKAsset,
        of recordID: CKRecord.ID,
        in range: Range<Int64>? = nil
    ) async throws -> Data {
        guard let content = asset.content else {
            throw CKError.local(.invalidArguments, "The asset was not saved yet: no server has it")
        }
        let session = try self.access.session()
        _ = try await session.open(self.timeouts)
        let wanted = (range ?? 0..<content.size).clamped(to: 0..<content.size)
        let bytes = Mutex(Data(capacity: Int(min(wanted.upperBound - wanted.lowerBound, 1 << 24))))
        let download = AssetDownload(
            scope: self.scopeModel,
            record: recordID.model,
            parts: [AssetDownload.Part(content, wanted)]
        ) { _, _, pieces in
            bytes.withLock { bytes in for piece in pieces { bytes.append(contentsOf: piece) } }
        }
        do throws(ClientError) {
            try await session.client.download(
                download,
                requestTimeout: self.timeouts.request,
                resourceTimeout: self.timeouts.resource
            )
        } catch {
            session.note(error)
            throw CKError(error)
        }
        return bytes.withLock { $0 }
    }
}
