import RecordModel

extension ZonePlan {
    /// Finds what a save names and did not name before; the field of the first asset that is not to be had.
    func unavailableAsset(of planned: PlannedSave) throws(StorageFailure) -> String? {
        guard let parts = planned.parts else { return nil }
        let transaction = self.rule.transaction
        // Nobody gets a file of an owner by its hash.
        if self.shared != nil, let named = parts.assets.added.first { return named.field }
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

    /// Refuses saves that would store more than a quota leaves, in the order of the items.
    ///
    /// What deletes of the same request make room for does not count yet: saves come first.
    mutating func refuseBeyondQuota() throws(StorageFailure) -> Bool {
        guard !self.saves.isEmpty, let room = try self.rule.transaction.quotaRoom(in: self.key.database)
        else { return false }
        var left = room.bytes
        var refused: [PlannedSave] = []
        for planned in self.saves.inOrder {
            let growth = Int64(planned.record.body.bytes.count - (planned.existing?.body.bytes.count ?? 0))
            if growth > 0, growth > left {
                refused.append(planned)
            } else {
                left -= growth
            }
        }
        for planned in refused { self.refuse(planned.index, name: planned.name, .quotaExceeded(room.quota)) }
        return !refused.isEmpty
    }

    /// Writes down what a save names and names no more.
    func applyAssets(of planned: PlannedSave, record: Int64) throws(StorageFailure) {
        guard let parts = planned.parts else { return }
        for number in parts.assetNumbers {
            try self.rule.transaction.addUse(of: number, by: record, in: self.key)
        }
        for asset in parts.assets.removed {
            try self.rule.transaction.removeUse(of: asset, by: record, in: self.key)
        }
    }
}
