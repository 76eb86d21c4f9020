import RecordModel
import StorageContract

/// Shares of a plan: saves of shares, and what shares mean for the saves of other records.
struct SharePlan {
    private let zone: PlannedZone
    private let items: PlannedItems

    init(_ zone: PlannedZone, _ items: PlannedItems) {
        self.zone = zone
        self.items = items
    }

    /// Validates the save of a share by itself; `existing` is the share that it would replace.
    func validate(
        _ save: RecordSave,
        index: Int,
        existing: StoredRecord?
    ) throws(StorageFailure) {
        let name = save.id.recordName
        if existing == nil, self.zone.shared == nil, name != ShareRecord.zoneWideName,
            try self.zone.transaction.encryptionScope(of: self.zone.key) == .perZone
        {
            self.items.refuse(index, name: name, .shareConflict(.zoneIsOneScope))
            return
        }
        guard !self.zone.rule.isFromElsewhere else {
            return try self.validate(restored: save, index: index, existing: existing)
        }
        let isThere = if let existing { try self.zone.isThere(existing) } else { true }
        let changes = save.share.changes
        let found = try self.find(changes.participants)
        let planned: PlannedSave
        do throws(StoreError) {
            guard isThere else { throw .permissionDenied(.write) }
            planned = try self.plan(share: save, changes, found: found, index: index, existing: existing)
        } catch {
            self.items.refuse(index, name: name, error)
            return
        }
        self.items.accept(planned)
    }

    /// The same of a share that another store had.
    private func validate(
        restored save: RecordSave,
        index: Int,
        existing: StoredRecord?
    ) throws(StorageFailure) {
        let name = save.id.recordName
        var restored: RestoredShare
        do throws(StoreError) {
            guard NameRules.isRecordName(name) else { throw .nameInvalid(.record) }
            guard !self.zone.id.isDefault, let share = save.changes.share else { throw .shareInvalid(.place) }
            if let existing { throw .recordExists(existing.record(id: save.id)) }
            guard try self.rootOfNewShare(save, ShareChanges(root: share.root)) == share.root else {
                throw .shareInvalid(.rootMissing)
            }
            try Self.checkFields(of: save)
            restored = try RestoredShare(share, owner: self.zone.rule.requester.userRecordName ?? "")
        } catch {
            self.items.refuse(index, name: name, error)
            return
        }
        let environment = self.zone.rule.requester.environment
        try restored.invite { (user) throws(StorageFailure) in
            guard try self.zone.transaction.user(.userRecordName(user), in: environment) != nil else {
                return false
            }
            return try self.zone.transaction.sharedDatabase(ofUser: user, in: environment) != nil
        }
        let body = save.changes.with(restored.share)
        do throws(StoreError) {
            try self.zone.rule.checkSize(of: body)
        } catch {
            self.items.refuse(index, name: name, error)
            return
        }
        self.items.accept(self.save(of: restored.share, body, index: index, name: name, existing: nil))
    }

    private func save(
        of share: Share,
        _ body: RecordBody,
        index: Int,
        name: String,
        existing: StoredRecord?
    ) -> PlannedSave {
        let record = StoredRecord(
            number: existing?.number ?? 0,
            recordType: ShareRecord.type,
            position: 0,
            system: self.zone.rule.systemFields(of: index, named: name, after: existing),
            parent: nil,
            body: body
        )
        // A share refers to nothing and names no assets, and its fields need no schema.
        let parts = PlannedParts()
        parts.share = share
        return PlannedSave(index: index, name: name, existing: existing, record: record, parts: parts)
    }

    /// The users whom lookups find, by participant; empty if none was found, or none was looked up.
    private func find(_ participants: [ShareParticipant]) throws(StorageFailure) -> [String] {
        var found: [String] = []
        for participant in participants {
            let identity = participant.identity
            var lookup = identity.lookup
            if lookup == nil, !identity.userRecordName.isEmpty {
                lookup = .userRecordName(identity.userRecordName)
            }
            let user = try lookup.flatMap { (lookup) throws(StorageFailure) in
                try self.zone.transaction.user(lookup, in: self.zone.rule.requester.environment)
            }
            found.append(user ?? "")
        }
        return found
    }

    private func plan(
        share save: RecordSave,
        _ changes: ShareChanges,
        found: [String],
        index: Int,
        existing: StoredRecord?
    ) throws(StoreError) -> PlannedSave {
        guard NameRules.isRecordName(save.id.recordName) else { throw .nameInvalid(.record) }
        guard self.zone.rule.requester.scope != .public, !self.zone.id.isDefault else {
            throw .shareInvalid(.place)
        }
        let user = self.zone.rule.requester.userRecordName ?? ""
        let known = existing?.body.share
        if let existing {
            guard existing.recordType == ShareRecord.type, let known else {
                throw .recordTypeMismatch(existing: existing.recordType)
            }
            guard known.isManaged(by: user) else { throw .permissionDenied(.write) }
        } else {
            guard self.zone.shared == nil else { throw .permissionDenied(.create) }
        }
        // This ignores the request's policy: otherwise a device that missed a removal would invite
        // again the user whom another device has removed.
        _ = try SaveRules.verdict(
            on: save,
            policy: .ifServerRecordUnchanged,
            existing: existing?.seen(by: user)
        )
        let root = known == nil ? try self.rootOfNewShare(save, changes) : known?.root
        if let error = save.changesError { throw .fieldMalformed(error) }
        try Self.checkFields(of: save)
        guard zip(changes.participants, found).allSatisfy({ $0.identity.isWellFound(as: $1) }) else {
            throw .recordMissing
        }
        var editing = ShareEditing(
            known,
            root: root,
            editor: user,
            nowMilliseconds: self.zone.transaction.nowMilliseconds
        )
        try editing.apply(changes, found: found)
        let body = (existing?.body ?? .empty).merging(save.changes).with(editing.share)
        try self.zone.rule.checkSize(of: body)
        return self.save(
            of: editing.share,
            body,
            index: index,
            name: save.id.recordName,
            existing: existing
        )
    }

    /// The root of a share that is made: its save is in the same request.
    private func rootOfNewShare(
        _ save: RecordSave,
        _ changes: ShareChanges
    ) throws(StoreError) -> String? {
        let isZoneWide = save.id.recordName == ShareRecord.zoneWideName
        if self.zone.shares.zoneWide != nil { throw .shareConflict(.zoneIsShared) }
        guard !isZoneWide else {
            guard self.zone.shares.isEmpty else { throw .shareConflict(.zoneHasShares) }
            return nil
        }
        let saves = self.zone.rule.operation.saves
        guard let root = changes.root,
            saves.contains(where: {
                ExactName.areSame($0.id.recordName, root)
                    && Access.isSame($0.id.zone, self.zone.id, for: self.zone.rule.requester)
            })
        else { throw .shareInvalid(.rootMissing) }
        guard self.zone.shares.share(ofRoot: root) == nil else { throw .alreadyShared }
        return root
    }

    private static func checkFields(of save: RecordSave) throws(StoreError) {
        for slice in save.changes.slices {
            switch slice.type {
            case .reference, .referenceList, .asset, .assetList: throw .shareInvalid(.fieldType)
            default: continue
            }
        }
        guard save.parent == .unchanged || save.parent == .removed else { throw .shareInvalid(.fieldType) }
    }

    // MARK: - Trees

    /// Refuses what only is known when all saves are validated.
    func settle() throws(StorageFailure) {
        let saves = self.items.saves
        guard
            !self.zone.shares.isEmpty || (self.items.haveParts && saves.contains(where: { $0.share != nil }))
        else { return }
        var sharedRecords = 0
        for planned in saves {
            guard let error = try self.sharingFault(of: planned, &sharedRecords) else { continue }
            self.items.refuse(planned, error)
        }
    }

    private func sharingFault(
        of planned: PlannedSave,
        _ sharedRecords: inout Int
    ) throws(StorageFailure) -> StoreError? {
        if let share = planned.share {
            return planned.existing == nil ? try self.faultOfNewShare(share, planned, &sharedRecords) : nil
        }
        let isNew = planned.existing == nil
        guard isNew || !ExactName.areSame(planned.existing?.parent, planned.record.parent) else { return nil }
        let share = try self.plannedMembership(ofParent: planned.record.parent)
        if let shared = self.zone.shared {
            guard !self.zone.isForeignRoot(planned.name), let grant = shared.grant(coveredBy: share),
                grant.mayWrite
            else {
                return .permissionDenied(isNew ? .create : .write)
            }
        }
        guard let existing = planned.existing, self.zone.shares.hasTrees else { return nil }
        let before = try self.zone.membership(of: existing)
        guard before != share else { return nil }
        return try self.faultOfTree(below: planned.name, mayHaveShares: share == nil, &sharedRecords)
    }

    private func faultOfNewShare(
        _ share: Share,
        _ planned: PlannedSave,
        _ sharedRecords: inout Int
    ) throws(StorageFailure) -> StoreError? {
        guard let root = share.root else { return nil }
        guard let save = self.items.save(of: root) else {
            return self.items.failedSave(of: root).map { .dependsOn(index: $0) }
                ?? .shareInvalid(.rootMissing)
        }
        let others = Set(
            self.items.saves.compactMap { $0 === planned ? nil : $0.share?.root.map(ExactName.init) }
        )
        guard try self.plannedMembership(ofParent: save.record.parent) == nil else { return .alreadyShared }
        var ancestor: String? = root
        while let name = ancestor {
            if others.contains(name) { return .alreadyShared }
            if let planned = self.items.save(of: name) {
                ancestor = planned.record.parent
            } else {
                ancestor = try self.zone.stored(name)?.parent
            }
        }
        return try self.faultOfTree(below: root, mayHaveShares: false, &sharedRecords)
    }

    /// The share that the children of a record will belong to; circles of parents were refused before.
    private func plannedMembership(ofParent parent: String?) throws(StorageFailure) -> ShareNumber? {
        var next = parent
        while let name = next {
            if let share = self.zone.shares.share(ofRoot: name) { return share.number }
            guard let planned = self.items.save(of: name) else {
                guard let stored = try self.zone.stored(name) else { return nil }
                return try self.zone.membership(of: stored)
            }
            if let existing = planned.existing, ExactName.areSame(existing.parent, planned.record.parent) {
                return try self.zone.membership(of: existing)
            }
            next = planned.record.parent
        }
        return nil
    }

    private func faultOfTree(
        below name: String,
        mayHaveShares: Bool,
        _ sharedRecords: inout Int
    ) throws(StorageFailure) -> StoreError? {
        let shares = self.zone.shares
        if !mayHaveShares, shares.share(ofRoot: name) != nil { return .alreadyShared }
        let limit = self.zone.rule.bounds.sharedTreeMax
        var names = [name]
        var next = 0
        while next < names.count {
            for child in try self.zone.children(of: names[next]) {
                if !mayHaveShares, shares.share(ofRoot: child) != nil { return .alreadyShared }
                names.append(child)
            }
            guard names.count <= limit else { return .sharedTreeTooLarge }
            next += 1
        }
        sharedRecords += names.count
        try self.zone.rule.work.set(sharedRecords: sharedRecords, of: self.zone.key)
        return nil
    }
}

extension ShareSave {
    /// The changes that the save asks for; none if it says nothing of the share.
    var changes: ShareChanges {
        switch self {
        case .none: ShareChanges()
        case .changes(let changes): changes
        }
    }
}

extension UserIdentity {
    /// Whether the result of a lookup suffices.
    ///
    /// A user record name belongs to a user, while an address may be assigned to one later.
    fileprivate func isWellFound(as user: String) -> Bool {
        guard user.isEmpty else { return true }
        if case .userRecordName = self.lookup { return false }
        return self.userRecordName.isEmpty
    }
}
