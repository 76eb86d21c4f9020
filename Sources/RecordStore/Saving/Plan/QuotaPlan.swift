import RecordModel
import StorageContract

/// Growth of a plan's saves, compared with the room in a quota.
struct QuotaPlan {
    private let zone: PlannedZone
    private let items: PlannedItems

    init(_ zone: PlannedZone, _ items: PlannedItems) {
        self.zone = zone
        self.items = items
    }

    /// Refuses saves that would store more than a quota leaves, in the order of the items.
    ///
    /// The room that deletes of the same request make does not count yet, because saves come first.
    /// The index entries of a save's share, and of the first fields of a schema, are not foreseen.
    /// They count when they are written.
    func refuseBeyondQuota(_ definitions: inout DefinitionPlan) throws(StorageFailure) -> Bool {
        guard !self.items.saves.isEmpty,
            let room = try self.zone.transaction.room(
                in: self.zone.key.database,
                under: self.zone.rule.quotas
            )
        else { return false }
        if let refusal = try self.refusalOfParticipant() {
            for planned in self.items.saves { self.items.refuse(planned, refusal) }
            return true
        }
        // The stored result also has the refused items.
        var left =
            room.bytes - Int64(RowBytes.outcome(RowBytes.outcomeItemMax * self.items.saves.count))
        // Near the bound, index entries are counted exactly. That costs as much as making them.
        let isNear = left < self.items.saves.reduce(into: 0) { $0 += Self.growthMax(of: $1) }
        var outcome = RowBytes.outcome(RowBytes.outcomeItemMax)
        var refused: [PlannedSave] = []
        for planned in self.items.saves {
            let growth = try self.growth(of: planned, withEntries: isNear, &definitions)
            if growth + outcome > 0, Int64(growth) > left {
                refused.append(planned)
            } else {
                left -= Int64(growth)
                outcome = RowBytes.outcomeItemMax
            }
        }
        if !refused.isEmpty, try self.giveUpUnnamed() { return try self.refuseBeyondQuota(&definitions) }
        for planned in refused { self.items.refuse(planned, .quotaExceeded(room.quota)) }
        return !refused.isEmpty
    }

    /// A participant's uploads are named by the save that takes them, and not known before.
    private func giveUpUnnamed() throws(StorageFailure) -> Bool {
        guard self.zone.shared == nil else { return false }
        let wanted = self.items.saves.flatMap { $0.parts?.assetNumbers ?? [] }
        return try self.zone.transaction.giveUpUnnamed(in: self.zone.key.database, except: Set(wanted))
    }

    /// The saves of participants count for the owner, and the results of their requests for
    /// themselves.
    private func refusalOfParticipant() throws(StorageFailure) -> StoreError? {
        guard self.zone.shared != nil else { return nil }
        let bytes = RowBytes.outcome(RowBytes.outcomeItemMax * self.items.saves.count)
        return try self.zone.transaction.refusal(
            ofGrowth: bytes,
            in: self.zone.rule.requester.database,
            under: self.zone.rule.quotas
        )
    }

    /// Upper bound on the growth by one save.
    ///
    /// The densest bodies are of words and numbers of one byte, each with an index entry.
    private static func growthMax(of planned: PlannedSave) -> Int64 {
        Int64(planned.record.body.bytes.count * 40 + 8_192)
    }

    /// Growth by one save, without its part of the stored result.
    private func growth(
        of planned: PlannedSave,
        withEntries: Bool,
        _ definitions: inout DefinitionPlan
    ) throws(StorageFailure) -> Int {
        let existing = planned.existing
        var bytes = planned.record.body.bytes.count - (existing?.body.bytes.count ?? 0)
        if existing == nil { bytes += RowBytes.record(named: planned.name) }
        if let parts = planned.parts {
            for target in parts.references.kinds.keys where parts.referencesBefore.kinds[target] == nil {
                bytes += RowBytes.reference(of: target.text, by: planned.name)
            }
            for target in parts.referencesBefore.kinds.keys where parts.references.kinds[target] == nil {
                bytes -= RowBytes.reference(of: target.text, by: planned.name)
            }
            bytes += parts.assetBytesBack
            bytes += (parts.assets.added.count - parts.assets.removed.count) * RowBytes.assetUse
        }
        guard withEntries else { return bytes }
        let changes = IndexChanges(
            from: existing,
            to: planned.record,
            named: planned.name,
            definitions: try definitions.fields(ofType: planned.record.recordType)
        )
        for entry in changes.added { bytes += RowBytes.entry(entry) }
        for entry in changes.removed { bytes -= RowBytes.entry(entry) }
        return bytes
    }
}
