import RecordModel

extension ZonePlan {
    /// Writes what was accepted and fills in the outcomes of the items.
    mutating func apply(outcomes: inout [WriteOutcome]) throws(StorageFailure) {
        try self.makeShares()
        try self.applyDefinitions()
        for planned in self.parentsFirst { outcomes[planned.index] = try self.apply(planned) }
        for delete in self.deletes {
            // What goes with a record goes before it, as children do before their parents.
            for name in delete.cascade.reversed() { try self.delete(name) }
            if let share = delete.left { try self.leave(share) }
            outcomes[delete.index] = .deleted
        }
        for (index, error) in self.failures { outcomes[index] = .failed(error) }
        try self.keepClientToken()
    }

    private func keepClientToken() throws(StorageFailure) {
        let token = self.rule.operation.clientToken
        guard !token.isEmpty, !self.zone.isDefault, !self.saves.isEmpty || !self.deletes.isEmpty else {
            return
        }
        try self.rule.transaction.setClientToken(token, of: self.key, for: self.rule.requester.database)
    }

    private mutating func apply(_ planned: PlannedSave) throws(StorageFailure) -> WriteOutcome {
        let transaction = self.rule.transaction
        var record = try self.completed(planned)
        record.position = try transaction.takePosition(in: self.key.database)
        if let existing = planned.existing {
            try transaction.update(record, replacing: existing, in: self.key)
        } else {
            record.number = try transaction.insert(
                record,
                named: planned.name,
                in: self.key,
                environment: self.rule.requester.environment
            )
        }
        try self.index(from: planned.existing, to: record, named: planned.name)
        try self.applyAssets(of: planned, record: self.key(of: record))
        try self.note(planned.existing, record, named: planned.name, at: record.position)
        if let parts = planned.parts { try self.applyHolds(parts, of: planned.name) }
        try self.applyMembership(of: planned, record)
        try self.applyReaders(of: planned)
        return .recordSaved(position: record.position, system: record.system)
    }

    private func applyHolds(_ parts: PlannedParts, of name: String) throws(StorageFailure) {
        guard parts.references != parts.referencesBefore else { return }
        for target in Set(parts.references.kinds.keys).union(parts.referencesBefore.kinds.keys) {
            let kinds = parts.references.kinds[target] ?? []
            let before = parts.referencesBefore.kinds[target]
            guard kinds != before else { continue }
            try self.rule.transaction.setReference(
                kinds,
                replacing: before,
                of: target,
                by: name,
                in: self.key
            )
        }
    }

    mutating func delete(_ name: String) throws(StorageFailure) {
        let transaction = self.rule.transaction
        // Another delete of the request may have taken it along.
        guard let record = try transaction.record(named: name, in: self.key) else { return }
        try self.noteNews(ofDeleting: record)
        let position = try transaction.takePosition(in: self.key.database)
        try transaction.delete(
            record,
            named: name,
            in: self.key,
            environment: self.rule.requester.environment,
            at: position
        )
        try self.index(from: record, to: nil, named: name)
        if try self.fields(ofType: record.recordType).hasAssets {
            try transaction.removeUses(by: self.key(of: record))
        }
        try self.note(record, nil, named: name, at: position)
        for target in References(body: record.body, parent: record.parent).kinds.keys {
            try transaction.setReference([], replacing: nil, of: target, by: name, in: self.key)
        }
        if record.recordType == ShareRecord.type {
            try self.endShare(named: name)
        } else if let share = self.shares.first(where: { $0.root == name }) {
            try self.delete(share.name)
        }
    }

    /// Tells those who watch the database.
    private mutating func note(
        _ before: StoredRecord?,
        _ after: StoredRecord?,
        named name: String,
        at position: Int64
    ) throws(StorageFailure) {
        let transaction = self.rule.transaction
        guard transaction.isWatched(self.key.database), let type = (after ?? before)?.recordType else {
            return
        }
        let change = CommittedRecord(
            zone: self.zone.zoneName,
            name: name,
            before: before,
            after: after,
            definitions: try self.fields(ofType: type)
        )
        transaction.note(.record(change), at: position, in: self.key.database)
    }

    private mutating func index(
        from old: StoredRecord?,
        to new: StoredRecord?,
        named name: String
    ) throws(StorageFailure) {
        guard let either = new ?? old else { return }
        let transaction = self.rule.transaction
        let definitions = try self.fields(ofType: either.recordType)
        let changes = IndexChanges(from: old, to: new, named: name, definitions: definitions)
        let key = self.key(of: either)
        for entry in changes.removed { try transaction.removeEntry(entry, of: key) }
        for entry in changes.added { try transaction.addEntry(entry, of: key) }
    }

    /// The order of the items, except that a parent that is saved in the same request goes before its children: feeds
    /// promise that order.
    private var parentsFirst: [PlannedSave] {
        let saves = self.saves.inOrder
        guard self.saves.haveParts,
            saves.contains(where: { $0.record.parent.map { self.saves[$0] != nil } ?? false })
        else {
            return saves
        }
        var ordered: [PlannedSave] = []
        var placed: Set<String> = []
        for save in saves {
            var chain: [PlannedSave] = []
            var current: PlannedSave? = save
            while let link = current, placed.insert(link.name).inserted {
                chain.append(link)
                current = link.record.parent.flatMap { self.saves[$0] }
            }
            ordered += chain.reversed()
        }
        return ordered
    }
}
