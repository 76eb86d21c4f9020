import RecordModel
import StorageContract

/// The meaning of `modify_records`: zone by zone, each planned as a whole and then applied.
///
/// So a zone or an item that is refused has written nothing. It is an object, because all parts of a
/// plan have it.
final class ModifyRecordsRule {
    let requester: Requester
    let operation: ModifyRecords
    let bounds: Bounds
    let quotas: StorageQuotas
    let transaction: any WriteTransaction
    let room: RecordRoom
    let work: RequestWork
    /// How an operator's saves differ from those of a client; `nil` for a client.
    let restoration: Restoration?

    init(
        requester: Requester,
        operation: ModifyRecords,
        bounds: Bounds,
        quotas: StorageQuotas,
        transaction: any WriteTransaction,
        restoration: Restoration? = nil,
        isCut: Bool = false
    ) {
        self.requester = requester
        self.operation = operation
        self.bounds = bounds
        self.quotas = quotas
        self.transaction = transaction
        self.room = RecordRoom(bounds)
        self.restoration = restoration
        self.work = RequestWork(
            restoration == nil && !isCut ? bounds : nil,
            countsStored: operation.saves.count + operation.deletes.count > 1
        )
    }

    enum OnExecute {
        /// One outcome an item, saves first.
        case finished(Result<[WriteOutcome], StoreError>)
        /// At most deletes were made; the rest is to be executed in other transactions.
        case unfinished(CascadeTurns)
    }

    /// Whether the saves come from another store.
    var isFromElsewhere: Bool { if case .copy = self.restoration { true } else { false } }

    /// Executes the rest; `nil` executes all of it.
    func execute(_ rest: WriteRest? = nil) throws(StorageFailure) -> OnExecute {
        var allowance = CascadeAllowance(stepsMax: self.bounds.cascadeTurnMax)
        // The number of the zone from which on deletes go in turns.
        var cutsFrom: Int?
        if case .cutting = rest { cutsFrom = 0 }
        if case .cascade(let turns) = rest {
            if let rest = try self.goOn(turns) { return .unfinished(rest) }
            if let batch = turns.batchCut {
                cutsFrom = turns.isSettled ? batch + 1 : batch
            } else if turns.isSettled {
                allowance = CascadeAllowance(
                    refused: turns.refused,
                    stepsMax: self.bounds.cascadeTogetherMax,
                    isLast: true
                )
            }
        }
        let count = self.operation.saves.count + self.operation.deletes.count
        let batches: [Batch]
        do throws(StoreError) {
            try Access.checkWriting(by: self.requester)
            guard count <= self.bounds.requestItemsMax else { throw .tooManyItems(count) }
            batches = self.batches
            try self.checkShape(of: batches)
        } catch {
            return .finished(.failure(error))
        }
        if let cutsFrom {
            if let turns = try self.cut(batches, from: cutsFrom) { return .unfinished(turns) }
            allowance = CascadeAllowance(stepsMax: self.bounds.cascadeTogetherMax, isLast: true)
        }
        var outcomes = [WriteOutcome](repeating: .failed(.internalFault), count: count)
        if batches.count > 1 {
            // Nothing of the request may be written before all of its turns.
            var allowance = allowance
            for batch in batches where !batch.deletes.isEmpty {
                let plan = try self.plan(batch, &allowance)
                if let turns = plan?.turns { return .unfinished(turns) }
            }
            self.room.clear()
            self.work.clear()
        }
        for batch in batches {
            guard let plan = try self.plan(batch, &allowance) else {
                for index in batch.saves + batch.deletes { outcomes[index] = .failed(.missing(batch.zone)) }
                continue
            }
            if let turns = plan.turns { return .unfinished(turns) }
            try plan.apply(outcomes: &outcomes)
        }
        return .finished(.success(outcomes))
    }

    /// Finds what goes in turns in the first zone, from one on, that has something to delete.
    private func cut(_ batches: [Batch], from first: Int) throws(StorageFailure) -> CascadeTurns? {
        var allowance = CascadeAllowance(stepsMax: 0)
        for number in batches.indices.dropFirst(first) {
            allowance.batchToCut = number
            if let turns = try self.plan(batches[number], &allowance)?.turns { return turns }
        }
        return nil
    }

    /// Validates the items of a zone; `nil` if the zone does not exist.
    private func plan(
        _ batch: Batch,
        _ allowance: inout CascadeAllowance
    ) throws(StorageFailure) -> ZonePlan? {
        guard let zone = try PlannedZone.find(batch.zone, for: self) else { return nil }
        var plan = ZonePlan(zone)
        try plan.validate(saves: batch.saves)
        try plan.validate(deletes: batch.deletes, &allowance)
        if self.isAtomic(in: batch.zone) { plan.failPeers(of: batch.saves + batch.deletes) }
        return plan
    }

    /// Whether one failed item fails all others of the zone.
    func isAtomic(in zone: ZoneID) -> Bool { self.operation.isAtomic && !zone.isDefault }

    /// The offset among the deletes of an item, by its number.
    func deleteOffset(_ index: Int) -> Int { index - self.operation.saves.count }

    private struct Batch {
        let zone: ZoneID
        /// Numbers of items.
        var saves: [Int] = []
        var deletes: [Int] = []
    }

    /// The items of each zone, in the order in which the zones appear.
    ///
    /// Nearly always they are of one zone, so the name of the last is not looked up again. And a
    /// save is not copied for the name of its zone.
    private var batches: [Batch] {
        var batches: [Batch] = []
        var offsets: [ZoneID: Int] = [:]
        var last: (asked: ZoneID, offset: Int)?
        func offset(of asked: ZoneID) -> Int {
            if let last, last.asked == asked { return last.offset }
            let zone = self.canonical(asked)
            let offset = offsets[zone] ?? batches.count
            if offset == batches.count {
                offsets[zone] = offset
                batches.append(Batch(zone: zone))
            }
            last = (asked, offset)
            return offset
        }
        for index in self.operation.saves.indices {
            batches[offset(of: self.operation.saves[index].id.zone)].saves.append(index)
        }
        for (index, delete) in self.operation.deletes.enumerated() {
            batches[offset(of: delete.zone)].deletes.append(self.operation.saves.count + index)
        }
        return batches
    }

    /// A zone that is named with and without its owner is one zone.
    private func canonical(_ zone: ZoneID) -> ZoneID {
        zone.ownerName.isEmpty || !Access.isOwn(zone, of: self.requester)
            ? zone : ZoneID(zoneName: zone.zoneName)
    }

    /// Whether each name is behind the one before, so that none comes twice.
    private func namesAscend(_ saves: [Int]) -> Bool {
        zip(saves, saves.dropFirst()).allSatisfy {
            ExactName(self.operation.saves[$0].id.recordName)
                < ExactName(self.operation.saves[$1].id.recordName)
        }
    }

    private func checkShape(of batches: [Batch]) throws(StoreError) {
        for batch in batches where batch.saves.count + batch.deletes.count > 1 {
            if batch.deletes.isEmpty, self.namesAscend(batch.saves) { continue }
            var saved: Set<ExactName> = []
            saved.reserveCapacity(batch.saves.count)
            for index in batch.saves {
                guard saved.insert(self.operation.saves[index].id.recordName).inserted else {
                    throw .duplicateItem
                }
            }
            var deleted: Set<ExactName> = []
            for index in batch.deletes {
                let name = self.operation.deletes[self.deleteOffset(index)].recordName
                guard !saved.contains(name) else { throw .savedAndDeleted }
                guard deleted.insert(name).inserted else { throw .duplicateItem }
            }
        }
    }
}

extension ModifyRecordsRule {
    /// Those of a record that is saved now, by the number of its item.
    func systemFields(of index: Int, named name: String, after existing: StoredRecord?) -> SystemFields {
        switch self.restoration {
        case .copy(let systems): return systems[index]
        case .undo(let undone) where existing == nil:
            guard let creation = undone.creations[ExactName(name)] else { break }
            var system = self.systemFields(after: nil)
            system.createdMilliseconds = creation.createdMilliseconds
            system.createdBy = creation.createdBy
            return system
        case .undo, nil: break
        }
        return self.systemFields(after: existing)
    }

    private func systemFields(after existing: StoredRecord?) -> SystemFields {
        let user = self.requester.userRecordName ?? ""
        let now = self.transaction.nowMilliseconds
        return SystemFields(
            createdMilliseconds: existing?.system.createdMilliseconds ?? now,
            modifiedMilliseconds: now,
            createdBy: existing?.system.createdBy ?? user,
            modifiedBy: user
        )
    }

    func checkSize(of body: RecordBody) throws(StoreError) {
        guard body.bytes.count <= self.bounds.recordBytesMax else {
            throw .recordTooLarge(bytes: body.bytes.count)
        }
        // The shortest field takes 7 bytes, so a small body need not be counted.
        guard body.bytes.count >= 7 * Bounds.fieldsMax else { return }
        guard body.slices.count <= Bounds.fieldsMax else { throw .fieldMalformed(.tooManyFields) }
    }
}
