import RecordModel

/// Records that a plan has put in order and not written yet.
///
/// They leave in one call. In a zone with shares each record leaves by itself, because what its
/// share takes along is read from rows; such a request costs a call a record.
struct PendingWrites {
    fileprivate(set) var writes = RecordWrites()
    /// Saves of `writes`, in the same order.
    fileprivate var saves: ArraySlice<PlannedSave> = []
    /// Bodies of records that go.
    fileprivate var bytesDeleted = 0

    /// Bounds the memory for the bodies of records that go.
    fileprivate static let bytesDeletedMax = 8 << 20
}

extension ZonePlan {
    /// Puts saves that leave together in order, each with its position, and fills in their outcomes.
    mutating func write(
        _ planned: ArraySlice<PlannedSave>,
        outcomes: inout [WriteOutcome]
    ) throws(StorageFailure) {
        self.pending.saves = planned
        self.pending.writes.saves.reserveCapacity(planned.count)
        for planned in planned {
            var record = try self.completed(planned)
            record.position = try self.rule.transaction.takePosition(in: self.key.database)
            var save = RecordWrites.Save(name: planned.name, record: record, existing: planned.existing)
            save.entries = IndexChanges(
                from: planned.existing,
                to: record,
                named: planned.name,
                definitions: try self.fields(ofType: record.recordType)
            )
            if let parts = planned.parts { save.references = parts.referenceChanges }
            self.pending.writes.saves.append(save)
            outcomes[planned.index] = .recordSaved(position: record.position, system: record.system)
        }
    }

    /// Puts a record that goes behind what waits.
    mutating func write(
        deleteOf record: StoredRecord,
        named name: String,
        coveredBy share: ShareNumber?
    ) throws(StorageFailure) {
        let fields = try self.fields(ofType: record.recordType)
        self.pending.writes.deletes.append(
            RecordWrites.Delete(
                name: name,
                record: record,
                position: try self.rule.transaction.takePosition(in: self.key.database),
                entries: IndexChanges(from: record, to: nil, named: name, definitions: fields),
                targets: Array(References(body: record.body, parent: record.parent).kinds.keys),
                coveredBy: share
            )
        )
        self.pending.bytesDeleted += record.body.bytes.count
        if self.pending.bytesDeleted > PendingWrites.bytesDeletedMax { _ = try self.flush() }
    }

    /// Writes what waits, and notes what depends on the numbers of its records: assets, and what is
    /// told to those who watch the database.
    ///
    /// Returns the numbers of the saved records.
    @discardableResult
    mutating func flush() throws(StorageFailure) -> [Int64] {
        let pending = self.pending
        guard !pending.writes.isEmpty else { return [] }
        self.pending = PendingWrites()
        let numbers = try self.rule.transaction.apply(
            pending.writes,
            to: self.key,
            in: self.rule.requester.environment
        )
        let isWatched = self.rule.transaction.isWatched(self.key.database)
        for ((planned, save), number) in zip(zip(pending.saves, pending.writes.saves), numbers) {
            try self.applyAssets(of: planned, record: RecordKey(zone: self.key, number: number))
            guard isWatched else { continue }
            var record = save.record
            record.number = number
            try self.note(planned.existing, record, named: planned.name, at: record.position)
        }
        for delete in pending.writes.deletes {
            if try self.fields(ofType: delete.record.recordType).hasAssets {
                try self.rule.transaction.removeUses(by: self.key(of: delete.record))
            }
            guard isWatched else { continue }
            try self.note(delete.record, nil, named: delete.name, at: delete.position)
        }
        return numbers
    }

    /// Tells those who watch the database.
    private mutating func note(
        _ before: StoredRecord?,
        _ after: StoredRecord?,
        named name: String,
        at position: Int64
    ) throws(StorageFailure) {
        guard let type = (after ?? before)?.recordType else { return }
        let change = CommittedRecord(
            zone: self.zone.zoneName,
            name: name,
            before: before,
            after: after,
            definitions: try self.fields(ofType: type)
        )
        self.rule.transaction.note(.record(change), at: position, in: self.key.database)
    }
}

extension PlannedParts {
    /// How the references of the record change.
    fileprivate var referenceChanges: [ReferenceChange] {
        guard self.references != self.referencesBefore else { return [] }
        let targets = Set(self.references.kinds.keys).union(self.referencesBefore.kinds.keys)
        return targets.compactMap { target in
            let kinds = self.references.kinds[target] ?? []
            let before = self.referencesBefore.kinds[target]
            guard kinds != before else { return nil }
            return ReferenceChange(target: target, kinds: kinds, before: before)
        }
    }
}
