import RecordModel

extension ZonePlan {
    /// Finds what a save names and did not name before; the field of the first asset that is not to be had.
    func unavailableAsset(of planned: PlannedSave) throws(StorageFailure) -> String? {
        guard let parts = planned.parts else { return nil }
        let transaction = self.rule.transaction
        if let shared = self.shared { return try self.assetUnavailable(to: shared, in: parts) }
        for named in parts.assets.added {
            guard let number = try transaction.asset(named.asset, in: self.key.database) else {
                return named.field
            }
            if let user = self.rule.requester.uploader {
                guard try transaction.isAsset(number, sentBy: user) else { return named.field }
            }
            parts.assetNumbers.append(number)
        }
        return nil
    }

    private static let namingRecordsMax = 1_000

    /// The same for a participant, who gets only what they have sent and what records name.
    ///
    /// Only records that the participant may read count. So nobody gets a file of an owner by its
    /// hash, or learns whether it is there.
    private func assetUnavailable(
        to shared: SharedAccess,
        in parts: PlannedParts
    ) throws(StorageFailure) -> String? {
        let transaction = self.rule.transaction
        let user = self.rule.requester.userRecordName ?? ""
        for named in parts.assets.added {
            let database = self.key.database
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
        let transaction = self.rule.transaction
        let records = try transaction.records(
            naming: asset,
            in: self.key,
            limit: Self.namingRecordsMax
        )
        return try transaction.memberships(of: records).contains { shared.grant(coveredBy: $0?.share) != nil }
    }

    /// Writes down what a save names and names no more.
    func applyAssets(of planned: PlannedSave, record: RecordKey) throws(StorageFailure) {
        guard let parts = planned.parts else { return }
        if self.shared != nil {
            let user = self.rule.requester.userRecordName ?? ""
            parts.assetNumbers = try parts.assets.added.map { (named) throws(StorageFailure) in
                try self.rule.transaction.takeUpload(of: named.asset, by: user, in: self.key.database)
            }
        }
        for number in parts.assetNumbers {
            try self.rule.transaction.addUse(of: number, by: record)
        }
        for asset in parts.assets.removed {
            // What a record names is complete.
            guard let number = try self.rule.transaction.asset(asset, in: self.key.database) else {
                throw .unexpected(code: 0)
            }
            try self.rule.transaction.removeUse(of: number, by: record)
        }
    }
}
