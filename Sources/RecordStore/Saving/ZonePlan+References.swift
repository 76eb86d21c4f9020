import RecordModel

extension ZonePlan {
    /// Refuses saves for what is only known when all are validated.
    mutating func settleSaves() throws(StorageFailure) {
        repeat {
            try self.settleReferences()
            try self.settleShares()
        } while try self.refuseBeyondQuota()
    }

    /// Refuses saves by what they refer to, and saves that would make a circle of parents.
    ///
    /// A save may not refer to what is not there, or is not for the requester to bind. A save that
    /// is refused may take away what others refer to, hence the repetition: each round but the last
    /// refuses something.
    private mutating func settleReferences() throws(StorageFailure) {
        guard self.saves.haveParts,
            self.saves.inOrder.contains(where: { $0.parts?.targets.isEmpty == false })
        else { return }
        try self.read(
            self.saves.inOrder.flatMap { $0.parts?.targets ?? [] }.filter { self.saves[$0] == nil }
        )
        var hasRefused = true
        while hasRefused {
            try self.refuseMissingTargets()
            hasRefused = try self.refuseForeignTargets()
            if try self.refuseInvalidAncestors() { hasRefused = true }
        }
    }

    /// Every target is looked for once, however long the chain of saves that need each other.
    private mutating func refuseMissingTargets() throws(StorageFailure) {
        // Saves by the name of another that they refer to.
        var referrers: [String: [PlannedSave]] = [:]
        var refused: [PlannedSave] = []
        for planned in self.saves.inOrder {
            guard let targets = planned.parts?.targets, !targets.isEmpty else { continue }
            for target in targets where self.saves[target] != nil {
                referrers[target, default: []].append(planned)
            }
            if try self.refuse(planned, ifOneIsMissingOf: targets) { refused.append(planned) }
        }
        var next = 0
        while next < refused.count {
            let gone = refused[next].name
            next += 1
            for referrer in referrers[gone] ?? [] where self.saves[referrer.name] === referrer {
                if try self.refuse(referrer, ifOneIsMissingOf: [gone]) { refused.append(referrer) }
            }
        }
    }

    private mutating func refuse(
        _ planned: PlannedSave,
        ifOneIsMissingOf targets: [String]
    ) throws(StorageFailure) -> Bool {
        guard let missing = try self.firstMissing(of: targets) else { return false }
        let error: StoreError =
            if let culprit = self.failedSaves[missing] {
                .dependsOn(index: culprit)
            } else {
                .referenceTargetMissing(recordName: missing)
            }
        self.refuse(planned.index, name: planned.name, error)
        return true
    }

    private mutating func firstMissing(of targets: [String]) throws(StorageFailure) -> String? {
        for target in targets where self.saves[target] == nil {
            guard let stored = try self.stored(target), try self.isThere(stored) else { return target }
        }
        return nil
    }

    /// Refuses references and parents that would bind a record which the requester may not write.
    ///
    /// It does so in the public database: nobody else keeps a record from being deleted, or uses up
    /// its places. References that a record has already stay.
    private mutating func refuseForeignTargets() throws(StorageFailure) -> Bool {
        guard self.rule.requester.scope == .public else { return false }
        var hasRefused = false
        for planned in self.saves.inOrder {
            guard let parts = planned.parts, let target = try self.firstForeign(in: parts) else { continue }
            self.refuse(planned.index, name: planned.name, .referenceNotPermitted(target: target))
            hasRefused = true
        }
        return hasRefused
    }

    private mutating func firstForeign(in parts: PlannedParts) throws(StorageFailure) -> String? {
        for target in parts.targets where self.saves[target] == nil {
            let before = parts.referencesBefore.kinds[target] ?? []
            guard let kinds = parts.references.kinds[target], !before.isSuperset(of: kinds),
                let stored = try self.stored(target)
            else { continue }
            let access = try self.access(to: stored, ofType: stored.recordType)
            guard access.mayWrite(stored) else { return target }
        }
        return nil
    }

    private mutating func refuseInvalidAncestors() throws(StorageFailure) -> Bool {
        var hasRefused = false
        // All are validated in the same state: each record of a circle is at fault, not just the first.
        var refused: [(name: String, error: StoreError)] = []
        for planned in self.saves.inOrder {
            guard let parent = planned.record.parent, parent != planned.existing?.parent else { continue }
            if let error = try self.faultOfAncestors(of: planned.name, parent: parent) {
                refused.append((planned.name, error))
            }
        }
        for (name, error) in refused {
            self.refuse(self.saves[name]!.index, name: name, error)
            hasRefused = true
        }
        return hasRefused
    }

    private mutating func faultOfAncestors(
        of name: String,
        parent: String
    ) throws(StorageFailure) -> StoreError? {
        var ancestor: String? = parent
        var seen: Set<String> = []
        var depth = 0
        while let current = ancestor {
            if current == name { return .parentCycle }
            // A circle further up: those on it are refused, and this one with them in the next round.
            guard seen.insert(current).inserted else { return nil }
            depth += 1
            if depth > self.rule.bounds.parentDepthMax { return .parentTooDeep }
            if let planned = self.saves[current] {
                ancestor = planned.record.parent
            } else {
                ancestor = try self.stored(current)?.parent
            }
        }
        return nil
    }
}
