import RecordModel
import StorageContract

/// Assets of a plan: whether saves may name them, and which records name them.
struct AssetPlan {
    private let zone: PlannedZone

    init(_ zone: PlannedZone) {
        self.zone = zone
    }

    /// Finds the assets that a save names and did not name before.
    ///
    /// - Returns: The field of the first asset that is not available; `nil` if all are.
    func unavailable(to planned: PlannedSave) throws(StorageFailure) -> String? {
        guard let parts = planned.parts else { return nil }
        let transaction = self.zone.transaction
        if let shared = self.zone.shared { return try self.unavailable(to: shared, in: parts) }
        for named in parts.assets.added {
            guard let row = try transaction.assetRow(named.asset, in: self.zone.key.database) else {
                return named.field
            }
            // Users had sent the assets that an operator puts back.
            if let user = self.zone.rule.requester.uploader, self.zone.rule.restoration == nil {
                guard try transaction.isAsset(row.number, sentBy: user) else { return named.field }
            }
            parts.assetNumbers.append(row.number)
            if row.isReleased {
                parts.assetBytesBack += Int(try row.size.counted()) + RowBytes.asset(row.size)
            }
        }
        return nil
    }

    private static let namingRecordsMax = 1_000

    /// The same for a participant, who gets only what they have sent and what records name.
    ///
    /// Only records that the participant may read count. So a participant cannot get an owner's
    /// file by its hash, or learn whether it exists.
    private func unavailable(
        to shared: SharedAccess,
        in parts: PlannedParts
    ) throws(StorageFailure) -> String? {
        let transaction = self.zone.transaction
        let user = self.zone.rule.requester.userRecordName ?? ""
        for named in parts.assets.added {
            let database = self.zone.key.database
            if let upload = try transaction.upload(of: named.asset, by: user, in: database),
                try transaction.isAsset(upload.number, sentBy: user)
            {
                continue
            }
            guard let number = try transaction.asset(named.asset, in: database),
                try self.isNamed(number, whereMayRead: shared)
            else { return named.field }
        }
        return nil
    }

    private func isNamed(
        _ asset: AssetNumber,
        whereMayRead shared: SharedAccess
    ) throws(StorageFailure) -> Bool {
        let transaction = self.zone.transaction
        let records = try transaction.records(
            naming: asset,
            in: self.zone.key,
            limit: Self.namingRecordsMax
        )
        return try transaction.memberships(of: records).contains { shared.grant(coveredBy: $0?.share) != nil }
    }

    /// Writes the names of assets that a save adds and removes.
    func apply(_ planned: PlannedSave, record: RecordKey) throws(StorageFailure) {
        guard let parts = planned.parts else { return }
        if self.zone.shared != nil {
            let user = self.zone.rule.requester.userRecordName ?? ""
            parts.assetNumbers = try parts.assets.added.map { (named) throws(StorageFailure) in
                try self.zone.transaction.takeUpload(of: named.asset, by: user, in: self.zone.key.database)
            }
        }
        for number in parts.assetNumbers {
            try self.zone.transaction.addUse(of: number, by: record)
        }
        for asset in parts.assets.removed {
            // An asset that a record names is complete.
            guard let number = try self.zone.transaction.asset(asset, in: self.zone.key.database) else {
                throw .unexpected(code: 0)
            }
            try self.zone.transaction.removeUse(of: number, by: record)
        }
    }
}
