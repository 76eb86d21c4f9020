import RecordModel

/// Saves of shares, and what shares mean for the saves of other records.
extension ZonePlan {
    /// Whether a record is there for the requester.
    mutating func isThere(_ record: StoredRecord) throws(StorageFailure) -> Bool {
        guard let shared = self.shared else { return true }
        return try shared.grant(coveredBy: self.membership(of: record)) != nil
    }

    mutating func validate(
        share save: RecordSave,
        index: Int,
        existing: StoredRecord?
    ) throws(StorageFailure) {
        let name = save.id.recordName
        let isThere = if let existing { try self.isThere(existing) } else { true }
        let changes = save.share.changes
        let found = try self.find(changes.participants)
        let planned: PlannedSave
        do throws(StoreError) {
            guard isThere else { throw .permissionDenied(.write) }
            planned = try self.plan(share: save, changes, found: found, index: index, existing: existing)
        } catch {
            self.refuse(index, name: name, error)
            return
        }
        self.accept(planned)
    }

    /// The users whom lookups find, by participant; empty: nobody, or not looked for.
    private func find(_ participants: [ShareParticipant]) throws(StorageFailure) -> [String] {
        var found: [String] = []
        for participant in participants {
            let identity = participant.identity
            var lookup = identity.lookup
            if lookup == nil, !identity.userRecordName.isEmpty {
                lookup = .userRecordName(identity.userRecordName)
            }
            let user = try lookup.flatMap { (lookup) throws(StorageFailure) in
                try self.rule.transaction.user(lookup, in: self.rule.requester.environment)
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
        guard NameRules.isItemName(save.id.recordName) else { throw .nameInvalid(.record) }
        guard self.rule.requester.scope != .public, !self.zone.isDefault else { throw .shareInvalid(.place) }
        let user = self.rule.requester.userRecordName ?? ""
        let known = existing?.body.share
        if let existing {
            guard existing.recordType == ShareRecord.type, let known else {
                throw .recordTypeMismatch(existing: existing.recordType)
            }
            guard known.isManaged(by: user) else { throw .permissionDenied(.write) }
        } else {
            guard self.shared == nil else { throw .permissionDenied(.create) }
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
            nowMilliseconds: self.rule.transaction.nowMilliseconds
        )
        try editing.apply(changes, found: found)
        let body = (existing?.body ?? .empty).merging(save.changes).with(editing.share)
        try self.checkSize(of: body)
        let record = StoredRecord(
            number: existing?.number ?? 0,
            recordType: ShareRecord.type,
            position: 0,
            system: self.systemFields(after: existing),
            parent: nil,
            body: body
        )
        // A share refers to nothing and names no assets, and its fields need no schema.
        let parts = PlannedParts()
        parts.share = editing.share
        return PlannedSave(
            index: index,
            name: save.id.recordName,
            existing: existing,
            record: record,
            parts: parts
        )
    }

    /// The root of a share that is made: its save is in the same request.
    private func rootOfNewShare(
        _ save: RecordSave,
        _ changes: ShareChanges
    ) throws(StoreError) -> String? {
        let isZoneWide = save.id.recordName == ShareRecord.zoneWideName
        if self.shares.contains(where: { $0.root == nil }) { throw .shareConflict(.zoneIsShared) }
        guard !isZoneWide else {
            guard self.shares.isEmpty else { throw .shareConflict(.zoneHasShares) }
            return nil
        }
        let saves = self.rule.operation.saves
        guard let root = changes.root,
            saves.contains(where: {
                $0.id.recordName == root
                    && Access.isSame($0.id.zone, self.zone, for: self.rule.requester)
            })
        else { throw .shareInvalid(.rootMissing) }
        guard !self.shares.contains(where: { $0.root == root }) else { throw .alreadyShared }
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
    mutating func settleShares() throws(StorageFailure) {
        let saves = self.saves.inOrder
        guard
            !self.shares.isEmpty || (self.saves.haveParts && saves.contains(where: { $0.share != nil }))
        else { return }
        for planned in saves {
            guard let error = try self.sharingFault(of: planned) else { continue }
            self.refuse(planned.index, name: planned.name, error)
        }
    }

    private mutating func sharingFault(of planned: PlannedSave) throws(StorageFailure) -> StoreError? {
        if let share = planned.share {
            return planned.existing == nil ? try self.faultOfNewShare(share, planned) : nil
        }
        let isNew = planned.existing == nil
        guard isNew || planned.existing?.parent != planned.record.parent else { return nil }
        let share = try self.plannedMembership(ofParent: planned.record.parent)
        if let shared = self.shared {
            guard !self.isForeignRoot(planned.name), let grant = shared.grant(coveredBy: share),
                grant.mayWrite
            else {
                return .permissionDenied(isNew ? .create : .write)
            }
        }
        guard let existing = planned.existing, self.hasSharedTrees else { return nil }
        let before = try self.membership(of: existing)
        guard before != share else { return nil }
        return try self.faultOfTree(below: planned.name, mayHaveShares: share == nil)
    }

    private mutating func faultOfNewShare(
        _ share: Share,
        _ planned: PlannedSave
    ) throws(StorageFailure) -> StoreError? {
        guard let root = share.root else { return nil }
        guard let save = self.saves[root] else {
            return self.failedSaves[root].map { .dependsOn(index: $0) } ?? .shareInvalid(.rootMissing)
        }
        let others = Set(self.saves.inOrder.compactMap { $0 === planned ? nil : $0.share?.root })
        guard try self.plannedMembership(ofParent: save.record.parent) == nil else { return .alreadyShared }
        var ancestor: String? = root
        while let name = ancestor {
            if others.contains(name) { return .alreadyShared }
            if let planned = self.saves[name] {
                ancestor = planned.record.parent
            } else {
                ancestor = try self.stored(name)?.parent
            }
        }
        return try self.faultOfTree(below: root, mayHaveShares: false)
    }

    private var hasSharedTrees: Bool { self.shares.contains { $0.root != nil } }

    /// The share that the children of a record will belong to; circles of parents were refused before.
    private mutating func plannedMembership(ofParent parent: String?) throws(StorageFailure) -> ShareNumber? {
        var next = parent
        while let name = next {
            if let share = self.shares.first(where: { $0.root == name }) { return share.number }
            guard let planned = self.saves[name] else {
                guard let stored = try self.stored(name) else { return nil }
                return try self.membership(of: stored)
            }
            if let existing = planned.existing, existing.parent == planned.record.parent {
                return try self.membership(of: existing)
            }
            next = planned.record.parent
        }
        return nil
    }

    private func faultOfTree(
        below name: String,
        mayHaveShares: Bool
    ) throws(StorageFailure) -> StoreError? {
        let roots = Set(self.shares.compactMap(\.root))
        if !mayHaveShares, roots.contains(name) { return .alreadyShared }
        let limit = self.rule.bounds.cascadeRecordsMax
        var names = [name]
        var next = 0
        while next < names.count {
            for child in try self.children(of: names[next]) {
                if !mayHaveShares, roots.contains(child) { return .alreadyShared }
                names.append(child)
            }
            guard names.count <= limit else { return .sharedTreeTooLarge }
            next += 1
        }
        return nil
    }

    func children(of name: String) throws(StorageFailure) -> [String] {
        try self.rule.transaction.referrers(
            of: name,
            in: self.key,
            behind: "",
            limit: self.rule.bounds.cascadeRecordsMax + 1
        ).filter { $0.kinds.contains(.parent) }.map(\.name)
    }
}

extension ShareSave {
    /// What is to change; of a save that says nothing of it, nothing.
    var changes: ShareChanges {
        switch self {
        case .none: ShareChanges()
        case .changes(let changes): changes
        }
    }
}

extension UserIdentity {
    /// Whether a search for somebody found enough.
    ///
    /// A user record name is somebody's, while an address may yet become somebody's.
    fileprivate func isWellFound(as user: String) -> Bool {
        guard user.isEmpty else { return true }
        if case .userRecordName = self.lookup { return false }
        return self.userRecordName.isEmpty
    }
}
