import RecordModel

extension ZonePlan {
    /// Writes what was accepted and fills in the outcomes of the items.
    mutating func apply(outcomes: inout [WriteOutcome]) throws(StorageFailure) {
        try self.makeShares()
        try self.applyDefinitions()
        let saves = self.parentsFirst
        if self.shares.isEmpty {
            try self.write(saves[...], outcomes: &outcomes)
        } else {
            for place in saves.indices { try self.applyShared(saves[place...place], outcomes: &outcomes) }
        }
        for delete in self.deletes {
            // What goes with a record goes before it, as children do before their parents.
            try self.delete(delete.cascade.reversed())
            if let share = delete.left { try self.leave(share) }
            outcomes[delete.index] = .deleted
        }
        try self.flush()
        for (index, error) in self.failures { outcomes[index] = .failed(error) }
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
        try self.applyMembership(of: planned, record)
        try self.applyReaders(of: planned)
    }

    private func keepClientToken() throws(StorageFailure) {
        let token = self.rule.operation.clientToken
        guard !token.isEmpty, !self.zone.isDefault, !self.saves.isEmpty || !self.deletes.isEmpty else {
            return
        }
        try self.rule.transaction.setClientToken(token, of: self.key, for: self.rule.requester.database)
    }

    /// Records that are read in one call before they are deleted.
    static let recordsReadMax = 32

    /// Deletes records that are there, in this order.
    mutating func delete(_ names: [String]) throws(StorageFailure) {
        // With a record of a share others change or go, so each is read by itself.
        let piece = self.shares.isEmpty ? Self.recordsReadMax : 1
        var rest = names[...]
        while !rest.isEmpty {
            let names = Array(rest.prefix(piece))
            rest.removeFirst(names.count)
            // What was saved just now goes as it is now.
            if self.saves.haveParts, names.contains(where: { self.saves[$0] != nil }) { try self.flush() }
            let records = try self.rule.transaction.records(named: names, in: self.key)
            for (name, record) in zip(names, records) {
                // Another delete of the request may have taken it along.
                guard let record else { continue }
                try self.delete(record, named: name)
            }
        }
    }

    private mutating func delete(_ record: StoredRecord, named name: String) throws(StorageFailure) {
        let share = try self.endSharing(of: record, named: name)
        try self.write(deleteOf: record, named: name, coveredBy: share)
        guard !self.shares.isEmpty else { return }
        try self.flush()
        if record.recordType == ShareRecord.type {
            try self.endShare(named: name)
        } else if let share = self.shares.first(where: { $0.root == name }) {
            try self.delete([share.name])
        }
    }

    /// The order of the items, but a parent saved in the same request goes before its children.
    ///
    /// Feeds promise that order.
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
