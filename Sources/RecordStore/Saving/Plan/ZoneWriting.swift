import RecordModel
import StorageContract

/// Writes of a plan: puts accepted saves and deletes in their order, and has the engine apply them.
///
/// Records leave in one call. In a zone with shares each record leaves by itself, because its
/// share's changes are read from rows; such a request costs a call a record.
struct ZoneWriting {
    private let zone: PlannedZone
    private let items: PlannedItems
    private let memberships: MembershipWriting
    private let assets: AssetPlan
    private var definitions: DefinitionPlan
    /// Records that are in order and not written yet.
    private var pending = PendingWrites()
    /// Counts what deletes cost; `nil` for a turn of a cascade, which has bounds of its own.
    private let work: RequestWork?

    init(
        _ zone: PlannedZone,
        _ items: PlannedItems,
        _ definitions: DefinitionPlan,
        countingDeletes: Bool = true
    ) {
        self.work = countingDeletes ? zone.rule.work : nil
        self.zone = zone
        self.items = items
        self.memberships = MembershipWriting(zone, items)
        self.assets = AssetPlan(zone)
        self.definitions = definitions
    }

    /// Writes the accepted items and fills in their outcomes.
    mutating func apply(outcomes: inout [WriteOutcome]) throws(StorageFailure) {
        try self.memberships.makeShares()
        try self.definitions.apply(self.items)
        let saves = self.parentsFirst
        if self.zone.shares.isEmpty {
            try self.write(saves[...], outcomes: &outcomes)
        } else {
            for offset in saves.indices {
                try self.applyShared(saves[offset...offset], outcomes: &outcomes)
            }
        }
        for delete in self.items.deletes {
            // Dependants go before their record, as children do before their parents.
            try self.delete(delete.cascade.reversed())
            if let share = delete.left { try self.memberships.leave(share) }
            outcomes[delete.index] = .deleted
        }
        try self.flush()
        for (index, error) in self.items.failures { outcomes[index] = .failed(error) }
        try self.keepClientToken()
    }

    /// Writes one save in a zone with shares, and what its share takes along, which is read from
    /// rows.
    private mutating func applyShared(
        _ planned: ArraySlice<PlannedSave>,
        outcomes: inout [WriteOutcome]
    ) throws(StorageFailure) {
        try self.write(planned, outcomes: &outcomes)
        guard let planned = planned.first, var record = self.pending.writes.saves.first?.record else {
            return
        }
        record.number = try self.flush()[0]
        try self.memberships.applyMembership(of: planned, record)
        try self.memberships.applyReaders(of: planned)
    }

    private func keepClientToken() throws(StorageFailure) {
        let token = self.zone.rule.operation.clientToken
        guard !token.isEmpty, !self.zone.id.isDefault,
            !self.items.saves.isEmpty || !self.items.deletes.isEmpty
        else {
            return
        }
        try self.zone.transaction.setClientToken(
            token,
            of: self.zone.key,
            for: self.zone.rule.requester.database
        )
    }

    /// Deletes existing records, in this order.
    mutating func delete(_ names: [String]) throws(StorageFailure) {
        // With a record of a share others change or go, so each is read by itself.
        let piece = self.zone.shares.isEmpty ? PlannedZone.recordsReadMax : 1
        var rest = names[...]
        while !rest.isEmpty {
            let names = Array(rest.prefix(piece))
            rest.removeFirst(names.count)
            // A record that was saved just now goes in its new state.
            if self.items.haveParts, names.contains(where: { self.items.save(of: $0) != nil }) {
                try self.flush()
            }
            let records = try self.zone.transaction.records(named: names, in: self.zone.key)
            for (name, record) in zip(names, records) {
                // Another delete of the request may have taken it along.
                guard let record else { continue }
                try self.delete(record, named: name)
            }
        }
    }

    private mutating func delete(_ record: StoredRecord, named name: String) throws(StorageFailure) {
        let share = try self.memberships.endSharing(of: record, named: name)
        try self.write(deleteOf: record, named: name, coveredBy: share)
        guard !self.zone.shares.isEmpty else { return }
        try self.flush()
        if record.recordType == ShareRecord.type {
            try self.memberships.endShare(named: name)
        } else if let share = self.zone.shares.share(ofRoot: name) {
            try self.delete([share.name])
        }
    }

    /// The order of the items, but a parent saved in the same request goes before its children.
    ///
    /// Feeds promise that order.
    private var parentsFirst: [PlannedSave] {
        let saves = self.items.saves
        guard self.items.haveParts,
            saves.contains(where: { $0.record.parent.map { self.items.save(of: $0) != nil } ?? false })
        else {
            return saves
        }
        var ordered: [PlannedSave] = []
        var placed: Set<ExactName> = []
        for save in saves {
            var chain: [PlannedSave] = []
            var current: PlannedSave? = save
            while let link = current, placed.insert(link.name).inserted {
                chain.append(link)
                current = link.record.parent.flatMap { self.items.save(of: $0) }
            }
            ordered += chain.reversed()
        }
        return ordered
    }

    // MARK: Order, and one call

    /// Puts saves that leave together in order, each with its position, and fills in their outcomes.
    private mutating func write(
        _ planned: ArraySlice<PlannedSave>,
        outcomes: inout [WriteOutcome]
    ) throws(StorageFailure) {
        self.pending.saves = planned
        self.pending.writes.saves.reserveCapacity(planned.count)
        for planned in planned {
            var record = try self.memberships.completed(planned)
            record.position = try self.zone.transaction.takePosition(in: self.zone.key.database)
            let entries = IndexChanges(
                from: planned.existing,
                to: record,
                named: planned.name,
                definitions: try self.definitions.fields(ofType: record.recordType)
            )
            try self.zone.rule.work.count(entries)
            self.pending.writes.saves.append(
                RecordWrites.Save(
                    name: planned.name,
                    record: record,
                    existing: planned.existing,
                    entries: entries,
                    references: planned.parts?.referenceChanges ?? []
                )
            )
            outcomes[planned.index] = .recordSaved(position: record.position, system: record.system)
        }
    }

    /// Appends a delete behind the waiting ones.
    private mutating func write(
        deleteOf record: StoredRecord,
        named name: String,
        coveredBy share: ShareNumber?
    ) throws(StorageFailure) {
        let isDamaged = record.isDamaged
        let fields = try self.definitions.fields(ofType: record.recordType)
        let entries =
            isDamaged ? .none : IndexChanges(from: record, to: nil, named: name, definitions: fields)
        let item = self.items.deletes.count == 1 ? self.items.deletes[0].name : nil
        try self.work?.count(entries, isAlong: item.map { !ExactName.areSame($0, name) } ?? false)
        self.pending.writes.deletes.append(
            RecordWrites.Delete(
                name: name,
                record: record,
                position: try self.zone.transaction.takePosition(in: self.zone.key.database),
                entries: entries,
                targets: isDamaged ? [] : References(body: record.body, parent: record.parent).targets,
                isDamaged: isDamaged,
                coveredBy: share
            )
        )
        self.pending.bytesDeleted += record.body.bytes.count
        if self.pending.bytesDeleted > PendingWrites.bytesDeletedMax { _ = try self.flush() }
    }

    /// Writes the waiting records, and notes all that depends on their numbers: assets, and the
    /// changes reported to the observer of commits.
    ///
    /// Returns the numbers of the saved records.
    @discardableResult
    mutating func flush() throws(StorageFailure) -> [Int64] {
        let pending = self.pending
        guard !pending.writes.isEmpty else { return [] }
        self.pending = PendingWrites()
        let rule = self.zone.rule
        let numbers = try self.zone.transaction.change(
            self.zone.key,
            by: pending.writes,
            of: rule.requester,
            under: rule.quotas
        )
        let isWatched = self.zone.transaction.isWatched(self.zone.key.database)
        for (offset, planned) in pending.saves.enumerated() {
            let number = numbers[offset]
            try self.assets.apply(planned, record: RecordKey(zone: self.zone.key, number: number))
            guard isWatched else { continue }
            var record = pending.writes.saves[offset].record
            record.number = number
            try self.note(planned.existing, record, named: planned.name, at: record.position)
        }
        for delete in pending.writes.deletes {
            if try self.definitions.fields(ofType: delete.record.recordType).hasAssets {
                try self.zone.transaction.removeUses(by: self.zone.key(of: delete.record))
            }
            guard isWatched else { continue }
            try self.note(delete.record, nil, named: delete.name, at: delete.position)
        }
        return numbers
    }

    /// Reports the changes to the observer of commits.
    private mutating func note(
        _ before: StoredRecord?,
        _ after: StoredRecord?,
        named name: String,
        at position: Int64
    ) throws(StorageFailure) {
        guard let type = (after ?? before)?.recordType else { return }
        let change = CommittedRecord(
            zone: self.zone.id.zoneName,
            name: name,
            before: before,
            after: after,
            definitions: try self.definitions.fields(ofType: type)
        )
        self.zone.transaction.note(.record(change), at: position, in: self.zone.key.database)
    }
}

/// Records that were put in order and not written yet.
private struct PendingWrites {
    var writes = RecordWrites()
    /// Saves of `writes`, in the same order.
    var saves: ArraySlice<PlannedSave> = []
    /// Bodies of records that go.
    var bytesDeleted = 0

    /// Bounds the memory for the bodies of records that go.
    static let bytesDeletedMax = 8 << 20
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
            return ReferenceChange(target: target.text, kinds: kinds, before: before)
        }
    }
}
