import RecordModel

/// What `modify_records` means: zone by zone, each planned as a whole and then applied, so that a zone or an item that
/// is refused has written nothing.
struct ModifyRecordsRule {
    let requester: Requester
    let operation: ModifyRecords
    let bounds: Bounds
    let transaction: any WriteTransaction

    /// One outcome an item, saves first.
    func execute() throws(StorageFailure) -> Result<[WriteOutcome], StoreError> {
        do {
            try Access.checkWriting(by: self.requester)
            try self.checkShape()
        } catch {
            return .failure(error)
        }
        let count = self.operation.saves.count + self.operation.deletes.count
        var outcomes = [WriteOutcome?](repeating: nil, count: count)
        for batch in self.batches {
            guard Access.isOwn(batch.zone, of: self.requester),
                let key = try self.transaction.zone(
                    named: batch.zone.zoneName,
                    in: self.requester.database
                )
            else {
                for index in batch.saves + batch.deletes { outcomes[index] = .failed(.zoneMissing) }
                continue
            }
            var plan = ZonePlan(rule: self, zone: batch.zone, key: key)
            for index in batch.saves { try plan.judge(save: self.operation.saves[index], index: index) }
            try plan.settleReferences()
            for index in batch.deletes {
                try plan.judge(delete: self.operation.deletes[self.deleteOffset(index)], index: index)
            }
            plan.settleDeletes()
            if self.operation.isAtomic, !batch.zone.isDefault {
                plan.failPeers(of: batch.saves + batch.deletes)
            }
            for (index, outcome) in try plan.apply(batch.saves + batch.deletes) { outcomes[index] = outcome }
        }
        return .success(outcomes.map { $0! })
    }

    private func deleteOffset(_ index: Int) -> Int { index - self.operation.saves.count }

    private struct Batch {
        let zone: ZoneID
        /// Numbers of items.
        var saves: [Int] = []
        var deletes: [Int] = []
    }

    /// The items of each zone, in the order in which the zones appear.
    private var batches: [Batch] {
        var batches: [Batch] = []
        var offsets: [ZoneID: Int] = [:]
        func offset(of zone: ZoneID) -> Int {
            if let last = batches.indices.last, batches[last].zone == zone { return last }
            if let known = offsets[zone] { return known }
            offsets[zone] = batches.count
            batches.append(Batch(zone: zone))
            return batches.count - 1
        }
        for (index, save) in self.operation.saves.enumerated() {
            let batch = offset(of: self.canonical(save.id.zone))
            batches[batch].saves.append(index)
        }
        for (index, delete) in self.operation.deletes.enumerated() {
            let batch = offset(of: self.canonical(delete.zone))
            batches[batch].deletes.append(self.operation.saves.count + index)
        }
        return batches
    }

    /// A zone that is named with and without its owner is one zone.
    private func canonical(_ zone: ZoneID) -> ZoneID {
        zone.ownerName.isEmpty || !Access.isOwn(zone, of: self.requester)
            ? zone : ZoneID(zoneName: zone.zoneName)
    }

    private func checkShape() throws(StoreError) {
        let count = self.operation.saves.count + self.operation.deletes.count
        guard count <= self.bounds.requestItemsMax else { throw .tooManyItems(count) }
        guard count > 1 else { return }
        var saved: Set<RecordID> = []
        saved.reserveCapacity(self.operation.saves.count)
        for save in self.operation.saves {
            guard saved.insert(self.canonical(save.id)).inserted else { throw .duplicateItem }
        }
        var deleted: Set<RecordID> = []
        for delete in self.operation.deletes {
            let id = self.canonical(delete)
            guard !saved.contains(id) else { throw .savedAndDeleted }
            guard deleted.insert(id).inserted else { throw .duplicateItem }
        }
    }

    private func canonical(_ id: RecordID) -> RecordID {
        id.zone.ownerName.isEmpty
            ? id : RecordID(zone: self.canonical(id.zone), recordName: id.recordName)
    }
}
