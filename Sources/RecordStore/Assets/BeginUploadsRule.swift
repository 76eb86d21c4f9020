package import RecordModel
package import StorageContract

/// Begins the uploads of `upload_assets`, before bytes are sent (`Protocol/README.md`, section
/// 5.12).
package struct BeginUploadsRule: Sendable {
    private let assets: [Asset]
    /// In a shared database: where the assets are to be named.
    private let zone: ZoneID?
    private let requester: Requester
    private let rules: WriteRules
    /// Whether an upload was given up, though its row may not say so yet.
    private let isAbandoned: @Sendable (AssetNumber) -> Bool

    package init(
        assets: [Asset],
        zone: ZoneID?,
        requester: Requester,
        rules: WriteRules,
        isAbandoned: @escaping @Sendable (AssetNumber) -> Bool
    ) {
        self.assets = assets
        self.zone = zone
        self.requester = requester
        self.rules = rules
        self.isAbandoned = isAbandoned
    }

    /// Gives one status an asset, in order; a request that is refused has made nothing.
    package func execute(
        in transaction: any WriteTransaction
    ) throws(StorageFailure) -> Result<[UploadStatus], StoreError> {
        do throws(StoreError) {
            try self.check()
        } catch {
            return .failure(error)
        }
        let database: DatabaseID
        switch try self.database(in: transaction) {
        case .success(let found): database = found
        case .failure(let error): return .failure(error)
        }
        var found: [Found?] = []
        var missingBytes: Int64 = 0
        for asset in self.assets {
            let known = try self.find(of: asset, of: database, in: transaction)
            switch known {
            case nil, .complete(_, isCounted: false)?:
                missingBytes += asset.size + Int64(RowBytes.asset(asset.size))
            case .complete(_, isCounted: true)?, .upload?: break
            }
            found.append(known)
        }
        if let refusal = try transaction.refusal(
            ofGrowth: Int(missingBytes),
            in: database,
            under: self.rules.quotas,
            wanted: Set(found.compactMap { $0?.number })
        ) {
            return .failure(refusal)
        }
        var begun: [UploadStatus] = []
        for (asset, known) in zip(self.assets, found) {
            switch known {
            case nil:
                let number = try transaction.insertUpload(
                    of: asset,
                    by: self.requester.uploader,
                    in: database
                )
                begun.append(.incomplete(number))
            case .complete(let number, _)?:
                try transaction.renew(number)
                begun.append(.complete)
            case .upload(let number)?:
                try transaction.renew(number)
                begun.append(.incomplete(number))
            }
        }
        return .success(begun)
    }

    private enum Found {
        case complete(AssetNumber, isCounted: Bool)
        case upload(AssetNumber)

        var number: AssetNumber {
            switch self {
            case .complete(let number, _), .upload(let number): number
            }
        }
    }

    private func check() throws(StoreError) {
        try Access.checkWriting(by: self.requester)
        var bytes: Int64 = 0
        for (index, asset) in self.assets.enumerated() {
            guard asset.size <= self.rules.bounds.assetBytesMax else {
                throw .assetTooLarge(index: index, bytes: asset.size)
            }
            let (sum, isTooMuch) = bytes.addingReportingOverflow(asset.size)
            guard !isTooMuch, asset.size >= 0 else { throw .assetTooLarge(index: index, bytes: asset.size) }
            bytes = sum
        }
        guard Set(self.assets).count == self.assets.count else { throw .duplicateItem }
    }

    /// The database that gets the bytes: in a shared database that of the zone's owner.
    private func database(
        in transaction: any WriteTransaction
    ) throws(StorageFailure) -> Result<DatabaseID, StoreError> {
        guard self.requester.scope == .shared else { return .success(self.requester.database) }
        guard let zone, let name = Access.storedName(of: zone, for: self.requester),
            let key = try transaction.zone(named: name, in: self.requester.database)
        else { return .failure(self.zone.map { .missing($0) } ?? .zoneMissing) }
        let access = try transaction.sharedAccess(to: key, of: self.requester.database)
        guard !access.isEmpty else { return .failure(.zoneMissing) }
        guard access.shares.contains(where: \.mayWrite) else { return .failure(.permissionDenied(.write)) }
        return .success(key.database)
    }

    private func find(
        of asset: Asset,
        of database: DatabaseID,
        in transaction: any WriteTransaction
    ) throws(StorageFailure) -> Found? {
        let user = self.requester.uploader
        // A participant must not learn which assets an owner has.
        if self.requester.scope != .shared, let row = try transaction.assetRow(asset, in: database) {
            let complete = Found.complete(row.number, isCounted: !row.isReleased)
            guard let user else { return complete }
            // A user who knows a hash does not have to have the file.
            if try transaction.isAsset(row.number, sentBy: user) { return complete }
        }
        guard let upload = try transaction.upload(of: asset, by: user, in: database) else { return nil }
        guard !self.isAbandoned(upload.number) else {
            try transaction.abandonUpload(upload.number)
            return nil
        }
        if self.requester.scope == .shared, let user,
            try transaction.isAsset(upload.number, sentBy: user)
        {
            return .complete(upload.number, isCounted: true)
        }
        return .upload(upload.number)
    }
}

extension Requester {
    /// The uploader, where it matters; `nil` in a private database, which is its user's.
    package var uploader: String? { self.scope == .private ? nil : self.userRecordName }
}
