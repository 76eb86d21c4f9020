import RecordModel
import StorageContract

/// Deletes of a plan: which are permitted, which records go with them, and which keep them.
struct DeletePlan {
    private let zone: PlannedZone
    private let items: PlannedItems
    /// The deletes that were validated, by record name: items that need a failed one fail too.
    private var indexes: [ExactName: Int] = [:]

    init(_ zone: PlannedZone, _ items: PlannedItems) {
        self.zone = zone
        self.items = items
    }

    /// Takes a delete of a record of one's own as permitted, whether or not there is one.
    mutating func assume(_ id: RecordID, index: Int) throws(StorageFailure) {
        self.indexes[ExactName(id.recordName)] = index
        if self.tag(of: index) != nil,
            let error = self.conflict(try self.zone.stored(id.recordName), id: id, index: index)
        {
            return self.items.refuseDelete(index, error)
        }
        do {
            try SaveRules.checkName(of: id)
            self.items.deletes.append(PlannedDelete(index: index, name: id.recordName, isThere: true))
        } catch {
            self.items.refuseDelete(index, error)
        }
    }

    /// Validates a delete by itself; `refused`: why an earlier turn of the request refused it.
    mutating func validate(
        _ id: RecordID,
        index: Int,
        refused: StoreError?,
        _ rights: inout RequesterRights,
        _ definitions: inout DefinitionPlan
    ) throws(StorageFailure) {
        let name = id.recordName
        self.indexes[ExactName(name)] = index
        if let refused {
            self.items.refuseDelete(index, refused)
            return
        }
        do {
            try SaveRules.checkName(of: id)
        } catch {
            self.items.refuseDelete(index, error)
            return
        }
        guard let record = try self.zone.stored(name), try self.zone.isThere(record) else {
            if let error = self.conflict(nil, id: id, index: index) {
                return self.items.refuseDelete(index, error)
            }
            self.items.deletes.append(PlannedDelete(index: index, name: name, isThere: false))
            return
        }
        // Participants who delete a share or its root leave it; both stay.
        if self.zone.shared != nil,
            let share = self.zone.shares.share(named: name) ?? self.zone.shares.share(ofRoot: name)
        {
            self.items.deletes.append(
                PlannedDelete(index: index, name: name, isThere: false, left: share)
            )
            return
        }
        guard try rights.mayDelete(record, named: name, &definitions) else {
            self.items.refuseDelete(index, .permissionDenied(.write))
            return
        }
        if let error = self.conflict(record, id: id, index: index) {
            // A conflict would show the record.
            let isSeen = try rights.access(to: record, ofType: record.recordType, &definitions).mayRead(
                record
            )
            return self.items.refuseDelete(index, isSeen ? error : .permissionDenied(.read))
        }
        self.items.deletes.append(PlannedDelete(index: index, name: name, isThere: true))
    }

    /// The tag that the request demands of a record that it deletes.
    private func tag(of index: Int) -> String? {
        let rule = self.zone.rule
        guard !rule.operation.deleteTags.isEmpty else { return nil }
        return rule.operation.deleteTags[rule.deleteOffset(index)]
    }

    /// Why a delete that demands a tag is refused; `nil` if it isn't.
    private func conflict(_ record: StoredRecord?, id: RecordID, index: Int) -> StoreError? {
        guard let tag = self.tag(of: index) else { return nil }
        guard let record else { return .recordMissing }
        guard tag != ChangeTag.text(of: record.position) else { return nil }
        let user = self.zone.rule.requester.userRecordName ?? ""
        return self.zone.rule.room.fitting(.changeTagStale(record.seen(by: user).record(id: id)))
    }

    /// Finds the records that go with the deletes, and their keepers, and refuses deletes of kept
    /// records.
    ///
    /// - Returns: Turns if the work exceeds one transaction; then the deletes are not judged yet.
    func walk(_ allowance: inout CascadeAllowance) throws(StorageFailure) -> CascadeTurns? {
        let roots = self.items.deletes.filter { $0.isThere }.map {
            CascadeWalk.Root(index: $0.index, name: $0.name)
        }
        guard !roots.isEmpty else { return nil }
        let walk = CascadeWalk(
            roots,
            saved: self.savedReferrers,
            failed: self.indexes.filter { self.items.failures[$0.value] != nil },
            recordsMax: self.zone.rule.bounds.cascadeRecordsMax
        )
        let (transaction, key) = (self.zone.transaction, self.zone.key)
        let stepsMax = max(0, allowance.stepsMax - allowance.stepsUsed) + roots.count
        var steps = stepsMax
        let isFound = try walk.goOn(steps: &steps) { targets, behind, limit throws(StorageFailure) in
            try transaction.referrers(of: targets, in: key, behind: behind, limit: limit)
        }
        var fits = isFound && walk.settle() && allowance.batchToCut == nil
        if fits, !allowance.isLast { fits = try !self.costsMuch(walk) }
        guard fits else {
            walk.reserveRoom()
            return CascadeTurns(
                zone: self.zone.id,
                key: key,
                refused: allowance.refused,
                room: max(0, self.zone.rule.bounds.cascadeTogetherMax - allowance.stepsUsed),
                batchCut: allowance.batchToCut,
                stage: .walking(walk)
            )
        }
        allowance.stepsUsed += max(0, stepsMax - steps - roots.count)
        for (index, error) in walk.refused { self.items.refuseDelete(index, error) }
        let cascades = walk.cascades
        self.items.deletes.removeAll { self.items.failures[$0.index] != nil }
        for offset in self.items.deletes.indices {
            self.items.deletes[offset].cascade = cascades[self.items.deletes[offset].index] ?? []
        }
        return nil
    }

    /// Whether the cascade costs more than one transaction should take.
    private func costsMuch(_ walk: CascadeWalk) throws(StorageFailure) -> Bool {
        let roots = Set(walk.roots.compactMap(\.number))
        let isGoing = walk.going
        let along = walk.names.indices.filter { isGoing[$0] && !roots.contains(Int32($0)) }
        var costs = DeletionCosts(of: along.map { walk.names[$0] }, in: self.zone)
        var definitions = DefinitionPlan(self.zone.rule)
        var cost = DeletionCost()
        for _ in along {
            try cost.add(costs.next(&definitions))
            if cost.exceedsTurn(self.zone.rule.bounds) { return true }
        }
        return false
    }

    private var savedReferrers: CascadeWalk.Saved {
        var saved = CascadeWalk.Saved()
        for planned in self.items.saves {
            saved.names.insert(planned.name)
            for (target, kinds) in planned.parts?.references.kinds ?? [:] {
                saved.referrers[target, default: []].append(Referrer(name: planned.name, kinds: kinds))
            }
        }
        return saved
    }
}
