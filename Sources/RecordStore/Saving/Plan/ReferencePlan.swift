import RecordModel
import StorageContract

/// References of a plan: the targets of saves, whether these exist, have room and may be bound, and
/// whether parents make a circle.
struct ReferencePlan {
    private let zone: PlannedZone
    private let items: PlannedItems
    /// The numbers of `deleteSelf` references to records before the request.
    private var deleteSelfCounts: [ExactName: Int] = [:]
    /// `deleteSelf` references that accepted saves add to a record, less those that they remove.
    private var deleteSelfAdded: [ExactName: Int] = [:]

    init(_ zone: PlannedZone, _ items: PlannedItems) {
        self.zone = zone
        self.items = items
    }

    // MARK: Of one save

    /// Finds the targets of a save, by fields and by its parent.
    func parts(
        of save: RecordSave,
        from existing: StoredRecord?,
        to record: StoredRecord,
        inFields mayRefer: Bool
    ) throws(StoreError) -> PlannedParts {
        let parts = PlannedParts()
        if mayRefer {
            let written = try References(
                changes: save.changes,
                in: self.zone.id,
                requester: self.zone.rule.requester
            )
            // Targets from another store may come later; the import has checked that they come.
            if !self.zone.rule.isFromElsewhere { parts.targets = written.targets }
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

    /// Finds a target to which one more record may not refer with `deleteSelf`, for a save that does.
    mutating func targetWithoutRoom(for planned: PlannedSave) throws(StorageFailure) -> String? {
        guard let parts = planned.parts else { return nil }
        let limit = self.zone.rule.bounds.deleteSelfReferencesMax
        let targets = parts.references.kinds.filter { target, kinds in
            kinds.contains(.deleteSelf)
                && parts.referencesBefore.kinds[target]?.contains(.deleteSelf) != true
        }.keys
        let unknown = targets.filter { self.deleteSelfCounts[$0] == nil }
        if !unknown.isEmpty {
            let counts = try self.zone.transaction.countsOfDeleteSelfReferrers(
                of: unknown.map(\.text),
                in: self.zone.key,
                limit: limit + self.zone.rule.bounds.requestItemsMax
            )
            for (target, count) in zip(unknown, counts) { self.deleteSelfCounts[target] = count }
        }
        return targets.first {
            self.deleteSelfCounts[$0, default: 0] + self.deleteSelfAdded[$0, default: 0] >= limit
        }?.text
    }

    /// Counts the references of a save that was accepted.
    mutating func count(_ planned: PlannedSave) {
        guard let parts = planned.parts else { return }
        for (target, kinds) in parts.references.kinds where kinds.contains(.deleteSelf) {
            self.deleteSelfAdded[target, default: 0] += 1
        }
        for (target, kinds) in parts.referencesBefore.kinds where kinds.contains(.deleteSelf) {
            self.deleteSelfAdded[target, default: 0] -= 1
        }
    }

    // MARK: Among all saves

    /// Refuses saves with invalid targets, and saves that would make a circle of parents.
    ///
    /// A save may not refer to a missing record, or to one that the requester may not bind. A
    /// refused save may have been the target of others, hence the repetition: each round but the
    /// last refuses at least one save.
    func settle(
        _ rights: inout RequesterRights,
        _ definitions: inout DefinitionPlan
    ) throws(StorageFailure) {
        guard self.items.haveParts,
            self.items.saves.contains(where: { $0.parts?.targets.isEmpty == false })
        else { return }
        try self.zone.read(
            self.items.saves.flatMap { $0.parts?.targets ?? [] }.filter { self.items.save(of: $0) == nil }
        )
        var hasRefused = true
        while hasRefused {
            try self.refuseMissingTargets()
            hasRefused = try self.refuseForeignTargets(&rights, &definitions)
            if try self.refuseInvalidAncestors() { hasRefused = true }
        }
    }

    /// Every target is looked for once, however long the chain of saves that need each other.
    private func refuseMissingTargets() throws(StorageFailure) {
        // Saves by the name of another that they refer to.
        var referrers: [ExactName: [PlannedSave]] = [:]
        var refused: [PlannedSave] = []
        for planned in self.items.saves {
            guard let targets = planned.parts?.targets, !targets.isEmpty else { continue }
            for target in targets where self.items.save(of: target) != nil {
                referrers[ExactName(target), default: []].append(planned)
            }
            if try self.refuse(planned, ifOneIsMissingOf: targets) { refused.append(planned) }
        }
        var next = 0
        while next < refused.count {
            let gone = refused[next].name
            next += 1
            for referrer in referrers[ExactName(gone)] ?? []
            where self.items.save(of: referrer.name) === referrer {
                if try self.refuse(referrer, ifOneIsMissingOf: [gone]) { refused.append(referrer) }
            }
        }
    }

    private func refuse(
        _ planned: PlannedSave,
        ifOneIsMissingOf targets: [String]
    ) throws(StorageFailure) -> Bool {
        guard let missing = try self.firstMissing(of: targets) else { return false }
        let error: StoreError =
            if let culprit = self.items.failedSave(of: missing) {
                .dependsOn(index: culprit)
            } else {
                .referenceTargetMissing(recordName: missing)
            }
        self.items.refuse(planned, error)
        return true
    }

    private func firstMissing(of targets: [String]) throws(StorageFailure) -> String? {
        for target in targets where self.items.save(of: target) == nil {
            guard let stored = try self.zone.stored(target), try self.zone.isThere(stored) else {
                return target
            }
        }
        return nil
    }

    /// Refuses references and parents that would bind a record which the requester may not write.
    ///
    /// It does so in the public database: other users must not keep a record from being deleted, or
    /// use up its room for references. References that a record has already stay.
    private func refuseForeignTargets(
        _ rights: inout RequesterRights,
        _ definitions: inout DefinitionPlan
    ) throws(StorageFailure) -> Bool {
        guard self.zone.rule.requester.scope == .public else { return false }
        var hasRefused = false
        for planned in self.items.saves {
            guard let parts = planned.parts,
                let target = try self.firstForeign(in: parts, &rights, &definitions)
            else { continue }
            self.items.refuse(planned, .referenceNotPermitted(target: target))
            hasRefused = true
        }
        return hasRefused
    }

    private func firstForeign(
        in parts: PlannedParts,
        _ rights: inout RequesterRights,
        _ definitions: inout DefinitionPlan
    ) throws(StorageFailure) -> String? {
        for target in parts.targets where self.items.save(of: target) == nil {
            let before = parts.referencesBefore.kinds[ExactName(target)] ?? []
            guard let kinds = parts.references.kinds[ExactName(target)], !before.isSuperset(of: kinds),
                let stored = try self.zone.stored(target)
            else { continue }
            let access = try rights.access(to: stored, ofType: stored.recordType, &definitions)
            guard access.mayWrite(stored) else { return target }
        }
        return nil
    }

    private func refuseInvalidAncestors() throws(StorageFailure) -> Bool {
        var hasRefused = false
        // All are validated in the same state: each record of a circle is at fault, not just the first.
        var refused: [(save: PlannedSave, error: StoreError)] = []
        for planned in self.items.saves {
            guard let parent = planned.record.parent, !ExactName.areSame(parent, planned.existing?.parent)
            else {
                continue
            }
            if let error = try self.faultOfAncestors(of: planned.name, parent: parent) {
                refused.append((planned, error))
            }
        }
        for (planned, error) in refused {
            self.items.refuse(planned, error)
            hasRefused = true
        }
        return hasRefused
    }

    private func faultOfAncestors(
        of name: String,
        parent: String
    ) throws(StorageFailure) -> StoreError? {
        var ancestor: String? = parent
        var seen: Set<ExactName> = []
        var depth = 0
        while let current = ancestor {
            if ExactName.areSame(current, name) { return .parentCycle }
            // A circle further up: those on it are refused, and this one with them in the next round.
            guard seen.insert(current).inserted else { return nil }
            depth += 1
            if depth > self.zone.rule.bounds.parentDepthMax { return .parentTooDeep }
            if let planned = self.items.save(of: current) {
                ancestor = planned.record.parent
            } else {
                ancestor = try self.zone.stored(current)?.parent
            }
        }
        return nil
    }
}
