import RecordModel
import StorageContract

/// The changes that a request would make in one zone.
///
/// First all items are validated, then the accepted ones are applied.
///
/// The parts know the zone and the items, and get the rights and definitions that they need. None
/// knows the plan.
struct ZonePlan {
    private let zone: PlannedZone
    private let items: PlannedItems
    private let assets: AssetPlan
    private let shares: SharePlan
    private let quota: QuotaPlan
    private var definitions: DefinitionPlan
    private var rights: RequesterRights
    private var references: ReferencePlan
    private var deletes: DeletePlan
    /// The turns to make before the plan is applied; `nil` if there are none.
    private(set) var turns: CascadeTurns?
    /// The name of a record type that was found to be one: most requests name one type.
    ///
    /// `nil` if none was checked yet.
    private var typeChecked: String?

    init(_ zone: PlannedZone) {
        let items = PlannedItems(zone.rule.room)
        self.zone = zone
        self.items = items
        self.assets = AssetPlan(zone)
        self.shares = SharePlan(zone, items)
        self.quota = QuotaPlan(zone, items)
        self.definitions = DefinitionPlan(zone.rule)
        self.rights = RequesterRights(zone)
        self.references = ReferencePlan(zone, items)
        self.deletes = DeletePlan(zone, items)
    }

    /// Validates saves, by the numbers of their items: first each by itself, then all together.
    mutating func validate(saves indexes: [Int]) throws(StorageFailure) {
        let saves = self.zone.rule.operation.saves
        let existing = try self.zone.recordsStored(indexes.map { saves[$0].id.recordName })
        try self.definitions.read(indexes.lazy.map { saves[$0].recordType })
        for (index, existing) in zip(indexes, existing) {
            try self.validate(saves[index], index: index, existing: existing)
        }
        // Checks that need all items to be validated.
        repeat {
            try self.references.settle(&self.rights, &self.definitions)
            try self.shares.settle()
        } while try self.quota.refuseBeyondQuota(&self.definitions)
    }

    /// Validates deletes, by the numbers of their items, and finds the records that go with them.
    mutating func validate(
        deletes indexes: [Int],
        _ allowance: inout CascadeAllowance
    ) throws(StorageFailure) {
        let rule = self.zone.rule
        let ids = indexes.map { rule.operation.deletes[rule.deleteOffset($0)] }
        guard allowance.batchToCut == nil else {
            for (index, id) in zip(indexes, ids) { try self.deletes.assume(id, index: index) }
            self.turns = try self.deletes.walk(&allowance)
            return
        }
        var names = ids.map(\.recordName)[...]
        while !names.isEmpty {
            let piece = names.startIndex..<names.startIndex + (try self.zone.read(deleted: names))
            for offset in piece {
                try self.deletes.validate(
                    ids[offset],
                    index: indexes[offset],
                    refused: allowance.refused[indexes[offset]],
                    &self.rights,
                    &self.definitions
                )
            }
            names = names[piece.upperBound...]
            if !names.isEmpty { self.zone.forgetRecords() }
        }
        self.turns = try self.deletes.walk(&allowance)
    }

    /// In an atomic zone one failure fails all: those at fault keep theirs.
    mutating func failPeers(of items: [Int]) {
        if self.items.failPeers(of: items) { self.turns = nil }
    }

    /// Writes the accepted items and fills in their outcomes.
    func apply(outcomes: inout [WriteOutcome]) throws(StorageFailure) {
        var writing = ZoneWriting(self.zone, self.items, self.definitions)
        try writing.apply(outcomes: &outcomes)
    }

    // MARK: One save

    /// Validates a save by itself; `existing` is the record that it would replace.
    private mutating func validate(
        _ save: RecordSave,
        index: Int,
        existing: StoredRecord?
    ) throws(StorageFailure) {
        let name = save.id.recordName
        if let existing, existing.isDamaged {
            self.items.refuse(index, name: name, .recordDamaged(save.id))
            return
        }
        if save.recordType == ShareRecord.type {
            try self.shares.validate(save, index: index, existing: existing)
            return
        }
        do throws(StoreError) {
            try SaveRules.checkName(of: save.id)
            if case .changes = save.share { throw .shareInvalid(.notAShare) }
            if save.recordType != self.typeChecked {
                try SaveRules.checkType(save.recordType)
                self.typeChecked = save.recordType
            }
        } catch {
            self.items.refuse(index, name: name, error)
            return
        }
        let save = save.replacesFields ? save.clearingOthers(of: existing) : save
        let defined = try self.definitions.planned(ofType: save.recordType)
        let access = try self.rights.access(
            to: existing,
            ofType: existing?.recordType ?? save.recordType,
            &self.definitions
        )
        let needed: NeededDefinitions
        do throws(StoreError) {
            try self.rights.check(save, existing: existing, access: access)
            needed = try self.definitions.needed(for: save, from: existing, given: defined)
        } catch {
            self.items.refuse(index, name: name, error)
            return
        }
        if let error = try self.definitions.refusalOfFrozenSchema(needed, ofType: save.recordType) {
            self.items.refuse(index, name: name, error)
            return
        }
        let planned: PlannedSave
        do throws(StoreError) {
            planned = try self.plan(save, index: index, existing: existing, needed, defined: defined)
        } catch {
            self.items.refuse(index, name: name, error)
            return
        }
        if let field = try self.assets.unavailable(to: planned) {
            self.items.refuse(index, name: name, .assetNotAvailable(field: field))
            return
        }
        if let full = try self.references.targetWithoutRoom(for: planned) {
            self.items.refuse(index, name: name, .referenceLimit(target: full))
            return
        }
        if planned.parts?.definesType == true, try !self.definitions.hasRoom(forType: save.recordType) {
            self.items.refuse(index, name: name, .tooManyRecordTypes)
            return
        }
        self.definitions.keep(planned, given: defined)
        self.references.count(planned)
        self.items.accept(planned)
    }

    /// Everything about a save that does not depend on other records.
    private func plan(
        _ save: RecordSave,
        index: Int,
        existing: StoredRecord?,
        _ needed: NeededDefinitions,
        defined: FieldDefinitions
    ) throws(StoreError) -> PlannedSave {
        let definitions = needed.fields
        try self.definitions.checkRoom(for: definitions, ofType: save.recordType, given: defined)
        let body = needed.replacesAll ? save.changes : (existing?.body ?? .empty).merging(save.changes)
        try self.zone.rule.checkSize(of: body)
        var parent = existing?.parent
        switch save.parent {
        case .unchanged: break
        case .removed: parent = nil
        case .set(let name):
            guard NameRules.isRecordName(name) else { throw .nameInvalid(.record) }
            parent = name
        }
        let record = StoredRecord(
            number: existing?.number ?? 0,
            recordType: save.recordType,
            position: 0,
            system: self.zone.rule.systemFields(of: index, named: save.id.recordName, after: existing),
            parent: parent,
            body: body
        )
        var parts: PlannedParts?
        // Every field of a record is defined, so without a field for references there are none to look for.
        let mayRefer = defined.hasReferences || definitions.contains { $0.value.isReference }
        if mayRefer || parent != nil || existing?.parent != nil {
            parts = try self.references.parts(of: save, from: existing, to: record, inFields: mayRefer)
        }
        if !needed.isEmpty {
            parts = parts ?? PlannedParts()
            parts?.definesType = needed.definesType
            parts?.definitions = definitions
        }
        if defined.hasAssets || definitions.contains(where: { $0.value.isAsset }) {
            parts = parts ?? PlannedParts()
            parts?.assets = AssetChanges(from: existing?.body, to: body)
        }
        return PlannedSave(
            index: index,
            name: save.id.recordName,
            existing: existing,
            record: record,
            parts: parts
        )
    }
}

extension RecordSave {
    /// The same with every field of the stored record that it lacks as one to remove, so that all
    /// rules judge it as if the client had named them.
    fileprivate func clearingOthers(of existing: StoredRecord?) -> RecordSave {
        guard let existing, self.changesError == nil else { return self }
        let given = Set(self.changes.slices.map { ExactName(self.changes.name(of: $0)) })
        let others = existing.body.slices.map { existing.body.name(of: $0) }
            .filter { !given.contains(ExactName($0)) }
        guard !others.isEmpty else { return self }
        var save = self
        save.changes = RecordBody(
            self.changes.fields + others.map { Field(name: $0, value: .clear) }
        )
        return save
    }
}
