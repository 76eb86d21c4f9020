import RecordModel

/// What a request would do to one zone: first everything is validated, then what was accepted is applied.
struct ZonePlan {
    let rule: ModifyRecordsRule
    let zone: ZoneID
    let key: ZoneKey
    let sharing: ZoneSharing

    /// Accepted so far.
    var saves = PlannedSaves()
    var deletes: [PlannedDelete] = []
    /// The deletes that were validated, by record name: what needs one that failed is told so.
    var deleteIndexes: [String: Int] = [:]
    /// What has to be done before the plan is applied; `nil` if nothing has to be.
    var turns: CascadeTurns?
    /// By number of the item.
    var failures: [Int: StoreError] = [:]
    /// Items that failed, by record name: what needs them is told so.
    var failedSaves: [String: Int] = [:]
    /// Records that the plan read and may need again, as they were before the request.
    private var known: [String: StoredRecord?] = [:]
    /// The shares of records, by number, that the plan read and may need again.
    private var knownMemberships: [Int64: ShareNumber?] = [:]
    /// How many `deleteSelf` references to records there were before the request.
    private var deleteSelfCounts: [String: Int] = [:]
    /// The name of a record type that was found to be one: most requests name one type.
    ///
    /// `nil` if none was checked yet.
    private var typeChecked: String?
    /// The writes of the plan.
    var pending = PendingWrites()
    /// Definitions that the plan has read.
    var schema = PlannedSchema()
    /// What accepted saves of the zone define, by record type.
    var defined: [String: PlannedDefinitions] = [:]
    /// Record types that are new with them.
    var typesAdded: Set<String> = []
    /// What the requester may do with the type that was asked for last.
    var knownAccess: (type: String, access: TypeAccess)?
    /// `deleteSelf` references that accepted saves add to a record, less those that they remove.
    private var deleteSelfAdded: [String: Int] = [:]

    /// Plans the request for a zone; `nil` if the zone is not there for the requester.
    init?(rule: ModifyRecordsRule, zone: ZoneID) throws(StorageFailure) {
        let requester = rule.requester
        guard let name = Access.storedName(of: zone, for: requester),
            let key = try rule.transaction.zone(named: name, in: requester.database)
        else { return nil }
        var shared: SharedAccess?
        if requester.scope == .shared {
            let access = try rule.transaction.sharedAccess(to: key, of: requester.database)
            guard !access.isEmpty else { return nil }
            shared = access
        }
        self.rule = rule
        self.zone = zone
        self.key = key
        self.sharing = ZoneSharing(
            shared,
            shares: requester.scope == .public ? [] : try rule.transaction.rememberedShares(in: key)
        )
    }

    var shared: SharedAccess? { self.sharing.access }
    var shares: [StoredShare] { self.sharing.shares }

    /// Reads the records that the request saves, as they are before it, with the shares to which they
    /// belong if the requester's rights depend on these.
    ///
    /// A name is saved once in a request, so these are not among the records that the plan keeps.
    mutating func recordsStored(_ names: [String]) throws(StorageFailure) -> [StoredRecord?] {
        let records = try self.rule.transaction.records(named: names, in: self.key)
        try self.readMemberships(of: records)
        return records
    }

    /// Reads records that the plan will need, in one call.
    mutating func read(_ names: [String]) throws(StorageFailure) {
        let missing = Array(Set(names.filter { self.known[$0] == nil }))
        guard !missing.isEmpty else { return }
        let records = try self.rule.transaction.records(named: missing, in: self.key)
        for (name, record) in zip(missing, records) { self.known[name] = .some(record) }
        try self.readMemberships(of: records)
    }

    private mutating func readMemberships(of records: [StoredRecord?]) throws(StorageFailure) {
        guard self.shared != nil else { return }
        let keys = records.compactMap { $0 }.map { RecordKey(zone: self.key, number: $0.number) }
        guard !keys.isEmpty else { return }
        for (key, row) in zip(keys, try self.rule.transaction.memberships(of: keys)) {
            self.knownMemberships[key.number] = .some(self.sharing.share(of: row))
        }
    }

    /// The record as it was before the request.
    mutating func stored(_ name: String) throws(StorageFailure) -> StoredRecord? {
        if let known = self.known[name] { return known }
        let record = try self.rule.transaction.record(named: name, in: self.key)
        self.known[name] = .some(record)
        return record
    }

    /// The share that a stored record belonged to before the request; `nil` if there was none.
    mutating func membership(of record: StoredRecord) throws(StorageFailure) -> ShareNumber? {
        guard !self.shares.isEmpty else { return nil }
        if let known = self.knownMemberships[record.number] { return known }
        let share = try self.storedMembership(of: record)
        self.knownMemberships[record.number] = .some(share)
        return share
    }

    /// The share that a stored record belongs to now; `nil` if there is none.
    func storedMembership(of record: StoredRecord) throws(StorageFailure) -> ShareNumber? {
        guard !self.shares.isEmpty else { return nil }
        return self.sharing.share(of: try self.rule.transaction.membership(of: self.key(of: record)))
    }

    func key(of record: StoredRecord) -> RecordKey { RecordKey(zone: self.key, number: record.number) }

    /// Validates a save by itself; `existing` is what it would replace.
    mutating func validate(
        save: RecordSave,
        index: Int,
        existing: StoredRecord?
    ) throws(StorageFailure) {
        let name = save.id.recordName
        if save.recordType == ShareRecord.type {
            try self.validate(share: save, index: index, existing: existing)
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
            self.refuse(index, name: name, error)
            return
        }
        let defined = try self.definitions(ofType: save.recordType)
        let access = try self.access(to: existing, ofType: existing?.recordType ?? save.recordType)
        let needed: NeededDefinitions
        do throws(StoreError) {
            try self.check(save, existing: existing, access: access)
            needed = try self.definitions(neededFor: save, from: existing, given: defined)
        } catch {
            self.refuse(index, name: name, error)
            return
        }
        if let error = try self.refusalOfFrozenSchema(needed, ofType: save.recordType) {
            self.refuse(index, name: name, error)
            return
        }
        let planned: PlannedSave
        do throws(StoreError) {
            planned = try self.plan(save, index: index, existing: existing, needed, defined: defined)
        } catch {
            self.refuse(index, name: name, error)
            return
        }
        if let field = try self.unavailableAsset(of: planned) {
            self.refuse(index, name: name, .assetNotAvailable(field: field))
            return
        }
        if let full = try self.targetWithoutRoom(for: planned) {
            self.refuse(index, name: name, .referenceLimit(target: full))
            return
        }
        if planned.parts?.definesType == true, try !self.hasRoom(forType: save.recordType) {
            self.refuse(index, name: name, .tooManyRecordTypes)
            return
        }
        self.keepDefinitions(of: planned, given: defined)
        self.accept(planned)
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
        try self.checkRoom(for: definitions, ofType: save.recordType, given: defined)
        let body = needed.replacesAll ? save.changes : (existing?.body ?? .empty).merging(save.changes)
        try self.checkSize(of: body)
        var parent = existing?.parent
        switch save.parent {
        case .unchanged: break
        case .removed: parent = nil
        case .set(let name):
            guard NameRules.isItemName(name) else { throw .nameInvalid(.record) }
            parent = name
        }
        let record = StoredRecord(
            number: existing?.number ?? 0,
            recordType: save.recordType,
            position: 0,
            system: self.systemFields(after: existing),
            parent: parent,
            body: body
        )
        var parts: PlannedParts?
        // Every field of a record is defined, so without a field for references there are none to look for.
        let mayRefer = defined.hasReferences || definitions.contains { $0.value.isReference }
        if mayRefer || parent != nil || existing?.parent != nil {
            parts = try self.references(of: save, from: existing, to: record, inFields: mayRefer)
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

    /// What a save refers to, by fields and by its parent.
    private func references(
        of save: RecordSave,
        from existing: StoredRecord?,
        to record: StoredRecord,
        inFields mayRefer: Bool
    ) throws(StoreError) -> PlannedParts {
        let parts = PlannedParts()
        if mayRefer {
            let written = try References(changes: save.changes, in: self.zone, requester: self.rule.requester)
            parts.targets = Array(written.kinds.keys)
        }
        if case .set(let parent) = save.parent { parts.targets.append(parent) }
        if let existing {
            parts.referencesBefore = References(
                body: mayRefer ? existing.body : .empty,
                parent: existing.parent
            )
        }
        parts.references = References(body: mayRefer ? record.body : .empty, parent: record.parent)
        return parts
    }

    /// Those of a record that is saved now.
    func systemFields(after existing: StoredRecord?) -> SystemFields {
        let user = self.rule.requester.userRecordName ?? ""
        let now = self.rule.transaction.nowMilliseconds
        return SystemFields(
            createdMilliseconds: existing?.system.createdMilliseconds ?? now,
            modifiedMilliseconds: now,
            createdBy: existing?.system.createdBy ?? user,
            modifiedBy: user
        )
    }

    func checkSize(of body: RecordBody) throws(StoreError) {
        guard body.bytes.count <= self.rule.bounds.recordBytesMax else {
            throw .recordTooLarge(bytes: body.bytes.count)
        }
        // The shortest field takes 7 bytes, so a small body need not be counted.
        guard body.bytes.count >= 7 * Bounds.fieldsMax else { return }
        guard body.slices.count <= Bounds.fieldsMax else { throw .fieldMalformed(.tooManyFields) }
    }

    private mutating func targetWithoutRoom(for planned: PlannedSave) throws(StorageFailure) -> String? {
        guard let parts = planned.parts else { return nil }
        let limit = self.rule.bounds.deleteSelfReferencesMax
        let targets = parts.references.kinds.filter { target, kinds in
            kinds.contains(.deleteSelf)
                && parts.referencesBefore.kinds[target]?.contains(.deleteSelf) != true
        }.keys
        let unknown = targets.filter { self.deleteSelfCounts[$0] == nil }
        if !unknown.isEmpty {
            let counts = try self.rule.transaction.countsOfDeleteSelfReferrers(
                of: unknown,
                in: self.key,
                limit: limit + self.rule.bounds.requestItemsMax
            )
            for (target, count) in zip(unknown, counts) { self.deleteSelfCounts[target] = count }
        }
        return targets.first {
            self.deleteSelfCounts[$0, default: 0] + self.deleteSelfAdded[$0, default: 0] >= limit
        }
    }

    mutating func accept(_ planned: PlannedSave) {
        self.count(planned, by: 1)
        self.saves.append(planned)
    }

    private mutating func count(_ planned: PlannedSave, by step: Int) {
        guard let parts = planned.parts else { return }
        for (target, kinds) in parts.references.kinds where kinds.contains(.deleteSelf) {
            self.deleteSelfAdded[target, default: 0] += step
        }
        for (target, kinds) in parts.referencesBefore.kinds where kinds.contains(.deleteSelf) {
            self.deleteSelfAdded[target, default: 0] -= step
        }
    }

    /// Refuses an item, also one that was accepted before.
    mutating func refuse(_ index: Int, name: String, _ error: StoreError) {
        self.failures[index] = self.rule.answer.fitting(error)
        self.failedSaves[name] = index
        guard let planned = self.saves.remove(name) else { return }
        self.count(planned, by: -1)
    }

    /// In an atomic zone one failure fails all: those at fault keep theirs.
    mutating func failPeers(of items: [Int]) {
        guard !self.failures.isEmpty else { return }
        let culprits = self.failures.filter { !$0.value.isDependence }.keys
        let first = culprits.min() ?? self.failures.keys.min()!
        for index in items where self.failures[index] == nil {
            self.failures[index] = .atomicPeer(index: first)
        }
        self.saves = PlannedSaves()
        self.deletes = []
        self.turns = nil
    }
}

/// What a plan knows of shares: behind a reference, as a plan is copied and most zones have none.
final class ZoneSharing {
    /// The requester's rights in a zone of somebody else.
    ///
    /// `nil` if the zone is the requester's own, or the public database's.
    let access: SharedAccess?
    /// The shares of the zone: as they were before the request, and while it is applied with those
    /// that it makes and without those that it ends.
    var shares: [StoredShare]

    init(_ access: SharedAccess?, shares: [StoredShare]) {
        self.access = access
        self.shares = shares
    }

    /// The share of a membership, if it is there.
    func share(of membership: MembershipRow?) -> ShareNumber? {
        guard let share = membership?.share, self.shares.contains(where: { $0.number == share }) else {
            return nil
        }
        return share
    }
}

extension StoreError {
    /// Whether the item failed only because it needs another that did.
    fileprivate var isDependence: Bool {
        if case .dependsOn = self { return true }
        return false
    }
}
