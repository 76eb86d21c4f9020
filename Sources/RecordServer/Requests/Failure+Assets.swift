import AssetStorage
import RecordModel
import StorageContract
import WireProtocol

// Failures that end an upload or a download. An asset at fault is named as the item that the
// request depends on.
extension Failure {
    /// An error of the store.
    init(asset error: StoreError, item: Int? = nil) {
        self.init(error)
        let culprit: Int?
        switch error {
        case .assetTooLarge(let index, _): culprit = index
        case .assetNotNamed(let index): culprit = index
        default: culprit = item
        }
        if let culprit { self.cause = .dependsOn(index: UInt32(clamping: culprit)) }
    }

    /// The disk is full or fails, or the file is gone.
    init(_ error: AssetStoreError, item: Int) {
        switch error {
        case .full: self.init(asset: .diskFull(retryAfterMilliseconds: 5_000), item: item)
        case .failed, .ended:
            self.init(asset: .storageUnavailable(retryAfterMilliseconds: 1_000), item: item)
        case .tooManyOpenFiles:
            self.init(
                code: .serviceUnavailable,
                message: "the server has too many files open: nothing happened, retry after 1000 ms",
                cause: .dependsOn(index: UInt32(clamping: item)),
                retry: .after(milliseconds: 1_000)
            )
        case .busy:
            self.init(
                code: .requestRateLimited,
                message: "another server has an upload of the same asset: repeat the request",
                cause: .dependsOn(index: UInt32(clamping: item)),
                retry: .after(milliseconds: 1_000)
            )
        case .missing:
            self.init(
                code: .assetNotAvailable,
                message: "the asset is not there any more",
                cause: .dependsOn(index: UInt32(clamping: item)),
                retry: .afterChange
            )
        }
    }

    static func assetDiffers(item: Int) -> Failure {
        Failure(
            code: .assetFileModified,
            message: "the bytes that came are not those of the asset's hash",
            cause: .dependsOn(index: UInt32(clamping: item)),
            retry: .afterChange
        )
    }

    /// The file of an asset has other bytes than were uploaded.
    static func assetDamaged(item: Int) -> Failure {
        Failure(
            code: .assetNotAvailable,
            message: "the asset's file is damaged: it has other bytes than were uploaded",
            cause: .dependsOn(index: UInt32(clamping: item)),
            retry: .afterChange
        )
    }

    static func assetDataOutOfPlace(item: Int) -> Failure {
        Failure(
            code: .invalidArguments,
            message: "bytes of an asset came that are not those that come next",
            cause: .dependsOn(index: UInt32(clamping: item)),
            retry: .never
        )
    }

    static func rangeInvalid(item: Int) -> Failure {
        Failure(
            code: .invalidArguments,
            message: "a range begins behind the end of its asset",
            cause: .dependsOn(index: UInt32(clamping: item)),
            retry: .never
        )
    }

    static let transferTimeout = Failure(
        code: .deadlineExceeded,
        message: "nothing came of the client for too long",
        retry: .now
    )

    /// Another upload of the same asset took over.
    static let uploadTakenOver = Failure(
        code: .requestRateLimited,
        message: "another upload of the same asset took the place of this one, which was silent",
        retry: .after(milliseconds: 1_000)
    )
}
