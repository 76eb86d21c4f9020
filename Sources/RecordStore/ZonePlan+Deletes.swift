import RecordModel

extension ZonePlan {
    /// A record that will be deleted, with those that go with it.
    struct PlannedDelete {
        let index: Int
        let name: String
        /// Itself and what refers to it with `deleteSelf`, and so on; the farthest last.
        ///
        /// Empty: nothing was there.
        let cascade: [String]
        /// Records that keep one of the cascade from going, unless they go as well.
        let keepers: Set<String>
        /// The share that the requester leaves instead.
        var left: StoredShare?
    }

    mutating func judge(delete id: RecordID, index: Int) throws(StorageFailure) {
        let name = id.recordName
        self.deleteIndexes[name] = index
        do {
            try SaveRules.checkName(of: id)
        } catch {
            self.failures[index] = error
            return
        }
        guard let record = try self.stored(name), try self.isThere(record) else {
            self.deletes.append(PlannedDelete(index: index, name: name, cascade: [], keepers: []))
            return
        }
        if self.shared != nil, let share = self.shares.first(where: { $0.name == name }) {
            var leaving = PlannedDelete(index: index, name: name, cascade: [], keepers: [])
            leaving.left = share
            self.deletes.append(leaving)
            return
        }
        guard try self.mayDelete(record, named: name) else {
            self.failures[index] = .permissionDenied(.write)
            return
        }
        guard let planned = try self.cascade(from: name, index: index) else {
            self.failures[index] = .referenceLimit(target: name)
            return
        }
        self.deletes.append(planned)
    }

    mutating func mayDelete(_ record: StoredRecord, named name: String) throws(StorageFailure) -> Bool {
        guard record.recordType != UserRecord.type, !self.isForeignRoot(name) else { return false }
        return try self.access(to: record, ofType: record.recordType).mayWrite(record)
    }

    /// Refuses deletes that would leave a reference dangling.
    ///
    /// One that is refused stays, and may be what keeps another. Each is looked at again only when something stays that it needs to go.
    mutating func settleDeletes() {
        guard self.deletes.contains(where: { !$0.keepers.isEmpty }) else { return }
        // How many deletes take a record along, and which need it to go.
        var going: [String: Int] = [:]
        var waiting: [String: [Int]] = [:]
        for (place, delete) in self.deletes.enumerated() {
            for name in delete.cascade { going[name, default: 0] += 1 }
            for keeper in delete.keepers { waiting[keeper, default: []].append(place) }
        }
        var suspects = Array(self.deletes.indices)
        while !suspects.isEmpty {
            let refused = suspects.filter { self.refuse(self.deletes[$0], unlessGoing: going) }
            var next: Set<Int> = []
            for name in refused.flatMap({ self.deletes[$0].cascade }) {
                going[name, default: 0] -= 1
                if going[name] == 0 { next.formUnion(waiting[name] ?? []) }
            }
            suspects = next.filter { self.failures[self.deletes[$0].index] == nil }.sorted()
        }
        self.deletes.removeAll { self.failures[$0.index] != nil }
    }

    /// Returns whether something stays that keeps a record of the delete from going.
    private mutating func refuse(_ delete: PlannedDelete, unlessGoing going: [String: Int]) -> Bool {
        guard let keeper = delete.keepers.filter({ going[$0, default: 0] == 0 }).min() else { return false }
        self.failures[delete.index] =
            if let culprit = self.failedDelete(of: keeper) {
                .dependsOn(index: culprit)
            } else {
                .referenceWouldDangle(holder: keeper)
            }
        return true
    }

    private func failedDelete(of name: String) -> Int? {
        guard let index = self.deleteIndexes[name] else { return nil }
        return self.failures[index] == nil ? nil : index
    }

    /// `nil`: too many.
    private mutating func cascade(from name: String, index: Int) throws(StorageFailure) -> PlannedDelete? {
        var cascade = [name]
        var going: Set<String> = [name]
        var keepers: Set<String> = []
        var next = 0
        while next < cascade.count {
            for holder in try self.holders(of: cascade[next]) {
                if holder.kinds.contains(.deleteSelf), !NameRules.isUserRecordName(holder.name) {
                    if going.insert(holder.name).inserted { cascade.append(holder.name) }
                } else if !holder.kinds.isDisjoint(with: .keeping) {
                    keepers.insert(holder.name)
                }
                guard cascade.count + keepers.count <= self.rule.bounds.cascadeRecordsMax else { return nil }
            }
            next += 1
        }
        return PlannedDelete(index: index, name: name, cascade: cascade, keepers: keepers.subtracting(going))
    }

    /// Those that hold a record once the saves are applied.
    private func holders(of target: String) throws(StorageFailure) -> [Holder] {
        var holders = try self.rule.transaction.holders(
            of: target,
            in: self.key,
            limit: self.rule.bounds.cascadeRecordsMax + 1
        )
        guard !self.saves.isEmpty else { return holders }
        holders.removeAll { self.saves[$0.name] != nil }
        for planned in self.saves.inOrder {
            if let kinds = planned.parts?.holds.kinds[target] {
                holders.append(Holder(name: planned.name, kinds: kinds))
            }
        }
        return holders
    }
}
