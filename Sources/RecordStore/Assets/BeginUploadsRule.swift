package import RecordModel

/// What `upload_assets` means before bytes travel (`Protocol/README.md`, section 5.12).
package struct BeginUploadsRule: Sendable {
    private let assets: [Asset]
    private let requester: Requester
    private let bounds: Bounds

    package init(assets: [Asset], requester: Requester, bounds: Bounds) {
        self.assets = assets
        self.requester = requester
        self.bounds = bounds
    }

    /// One place an asset, in order; refused, nothing is made.
    package func execute(
        in transaction: any AssetTransaction
    ) throws(StorageFailure) -> Result<[AssetPlace], StoreError> {
        do throws(StoreError) {
            try self.check()
        } catch {
            return .failure(error)
        }
        var places: [Place?] = []
        var missingBytes: Int64 = 0
        for asset in self.assets {
            let place = try self.place(of: asset, in: transaction)
            if place == nil { missingBytes += asset.size }
            places.append(place)
        }
        if missingBytes > 0, let room = try transaction.quotaRoom(in: self.requester.database),
            missingBytes > room.bytes
        {
            return .failure(.quotaExceeded(room.quota))
        }
        var begun: [AssetPlace] = []
        for (asset, place) in zip(self.assets, places) {
            switch place {
            case nil:
                let number = try transaction.insertUpload(
                    of: asset,
                    by: self.requester.uploader,
                    in: self.requester.database
                )
                begun.append(.incomplete(number))
            case .complete(let number)?:
                try transaction.renew(number)
                begun.append(.complete)
            case .upload(let number)?:
                try transaction.renew(number)
                begun.append(.incomplete(number))
            }
        }
        return .success(begun)
    }

    private enum Place {
        case complete(AssetNumber)
        case upload(AssetNumber)
    }

    private func check() throws(StoreError) {
        guard self.requester.scope != .shared else { throw .databaseNotAllowed }
        try Access.checkWriting(by: self.requester)
        var bytes: Int64 = 0
        for (index, asset) in self.assets.enumerated() {
            guard asset.size <= self.bounds.assetBytesMax else {
                throw .assetTooLarge(index: index, bytes: asset.size)
            }
            let (sum, isTooMuch) = bytes.addingReportingOverflow(asset.size)
            guard !isTooMuch, asset.size >= 0 else { throw .assetTooLarge(index: index, bytes: asset.size) }
            bytes = sum
        }
        guard Set(self.assets).count == self.assets.count else { throw .duplicateItem }
    }

    private func place(
        of asset: Asset,
        in transaction: any AssetTransaction
    ) throws(StorageFailure) -> Place? {
        let user = self.requester.uploader
        if let number = try transaction.asset(asset, in: self.requester.database) {
            guard let user else { return .complete(number) }
            // Who knows a hash does not have to have the file.
            if try transaction.isAsset(number, sentBy: user) { return .complete(number) }
        }
        let upload = try transaction.upload(of: asset, by: user, in: self.requester.database)
        return upload.map { .upload($0) }
    }
}

extension Requester {
    /// Whose upload it is, where that matters; `nil` in a private database, which is its user's.
    package var uploader: String? { self.scope == .public ? self.userRecordName : nil }
}
