import RecordModel
import StorageContract

/// Writes of a plan about shares: which there are, whom they let in, and which records belong to
/// them.
struct MembershipWriting {
    private let zone: PlannedZone
    private let items: PlannedItems

    init(_ zone: PlannedZone, _ items: PlannedItems) {
        self.zone = zone
        self.items = items
    }

    /// Makes the shares that are new, before any record that belongs to them is written.
    func makeShares() throws(StorageFailure) {
        guard self.items.haveParts else { return }
        for planned in self.items.saves where planned.existing == nil {
            guard let share = planned.share else { continue }
            let stored = try self.zone.transaction.insertShare(
                named: planned.name,
                root: share.root,
                in: self.zone.key
            )
            self.zone.shares.insert(stored)
        }
    }

    /// The record of a save as it is written: a share gets its tokens, and its root the name of the
    /// share.
    func completed(_ planned: PlannedSave) throws(StorageFailure) -> StoredRecord {
        let transaction = self.zone.transaction
        if var share = planned.share {
            if self.zone.rule.isFromElsewhere { try self.keepTokens(of: share) }
            share.token = try transaction.token(of: share.root, participant: "", in: self.zone.key)
            for index in share.participants.indices where share.participants[index].isForWhoeverComes {
                share.participants[index].oneTimeToken = try transaction.token(
                    of: share.root,
                    participant: share.participants[index].id,
                    in: self.zone.key
                )
            }
            return planned.record.with(body: planned.record.body.with(share))
        }
        guard let share = self.zone.shares.share(ofRoot: planned.name) else { return planned.record }
        if self.items.deletes.contains(where: { $0.cascade.contains { ExactName.areSame($0, share.name) } }) {
            // The root's save is its last change, so the tag in the response is the one that it
            // has.
            return planned.record.with(body: planned.record.body.withReference(toShare: nil))
        }
        guard let save = self.items.save(of: share.name), save.existing == nil else { return planned.record }
        return planned.record.with(body: planned.record.body.withReference(toShare: share.name))
    }

    /// Gives a restored share the URLs that it had.
    private func keepTokens(of share: Share) throws(StorageFailure) {
        let transaction = self.zone.transaction
        try transaction.keepToken(share.token, of: share.root, participant: "", in: self.zone.key)
        for participant in share.participants where participant.isForWhoeverComes {
            try transaction.keepToken(
                participant.oneTimeToken,
                of: share.root,
                participant: participant.id,
                in: self.zone.key
            )
        }
    }

    /// Lets in and shuts out whom the save of a share lets in and shuts out.
    func applyReaders(of planned: PlannedSave) throws(StorageFailure) {
        guard let share = planned.share,
            let stored = self.zone.shares.share(named: planned.name)
        else { return }
        guard let before = planned.existing?.body.share else {
            if self.zone.rule.isFromElsewhere { try self.letIn(share, stored) }
            return
        }
        let transaction = self.zone.transaction
        for old in before.participants where old.acceptance == .accepted && old.role != .owner {
            // Invited anew, they have to join again.
            let new = share.participants.first { $0.id == old.id && $0.acceptance == .accepted }
            guard new?.permission != old.permission || new?.role != old.role else { continue }
            let reader = try transaction.sharedDatabase(
                ofUser: old.identity.userRecordName,
                in: self.zone.rule.requester.environment
            )
            guard let reader else { continue }
            if let new {
                let right = ReaderRight(permission: new.permission, role: new.role)
                try transaction.setReader(reader, of: stored, right)
            } else {
                try transaction.removeReader(reader, of: stored)
            }
        }
    }

    /// Readmits the participants who had joined a restored share.
    private func letIn(_ share: Share, _ stored: StoredShare) throws(StorageFailure) {
        for participant in share.participants
        where participant.acceptance == .accepted && participant.role != .owner {
            let reader = try self.zone.transaction.sharedDatabase(
                ofUser: participant.identity.userRecordName,
                in: self.zone.rule.requester.environment
            )
            guard let reader else { continue }
            let right = ReaderRight(permission: participant.permission, role: participant.role)
            try self.zone.transaction.setReader(reader, of: stored, right)
        }
    }

    // MARK: - Memberships

    /// Notes the share that a saved record belongs to, and takes along the records below it.
    func applyMembership(of planned: PlannedSave, _ record: StoredRecord) throws(StorageFailure) {
        guard !self.zone.shares.isEmpty else { return }
        let transaction = self.zone.transaction
        if let zoneWide = self.zone.shares.zoneWide {
            try transaction.noteChange(of: zoneWide.number)
            return
        }
        let before = try planned.existing == nil ? nil : self.zone.storedMembership(of: record)
        let after = try self.membership(of: planned.name, parent: record.parent)
        if before != after {
            var changes = MembershipChanges()
            changes.set(after, of: record, since: record.position)
            if let before {
                changes.note(
                    before,
                    isArrival: false,
                    record,
                    named: planned.name,
                    at: try transaction.takePosition(in: self.zone.key.database)
                )
            }
            try self.write(changes)
            try self.spread(after, below: planned.name, at: record.position)
        }
        if let after { try transaction.noteChange(of: after) }
    }

    /// By its name or by its parent, as both are written now.
    private func membership(of name: String, parent: String?) throws(StorageFailure) -> ShareNumber? {
        let shares = self.zone.shares
        if let share = shares.share(ofRoot: name) ?? shares.share(named: name) { return share.number }
        guard let parent, let record = try self.zone.transaction.record(named: parent, in: self.zone.key)
        else {
            return nil
        }
        return try self.zone.storedMembership(of: record)
    }

    /// Records that `spread` reads in one call: bounds the memory for their bodies.
    private static let spreadRecordsMax = 256

    /// Gives every record below a record its share.
    ///
    /// Below a record that belongs to the share already, all others do.
    private func spread(
        _ share: ShareNumber?,
        below name: String,
        at position: Int64
    ) throws(StorageFailure) {
        // A share that is being made has no participants who joined.
        let isNew = self.items.saves.contains {
            $0.existing == nil && ExactName.areSame($0.share?.root, name)
        }
        var names = [name]
        while let next = names.popLast() {
            var children = try self.zone.children(of: next)
                .filter { self.zone.shares.share(ofRoot: $0) == nil }[...]
            while !children.isEmpty {
                let piece = Array(children.prefix(Self.spreadRecordsMax))
                children.removeFirst(piece.count)
                names += try self.spread(share, to: piece, isNotifying: !isNew, at: position)
            }
        }
    }

    /// Gives records their share; returns the names of those that belonged to another, or to none.
    private func spread(
        _ share: ShareNumber?,
        to names: [String],
        isNotifying: Bool,
        at position: Int64
    ) throws(StorageFailure) -> [String] {
        let transaction = self.zone.transaction
        let found = zip(names, try transaction.records(named: names, in: self.zone.key)).compactMap {
            name,
            record in
            record.map { (name: name, record: $0) }
        }
        let memberships = try transaction.memberships(of: found.map { self.zone.key(of: $0.record) })
        var changes = MembershipChanges()
        var changed: [String] = []
        func next() throws(StorageFailure) -> Int64 {
            try transaction.takePosition(in: self.zone.key.database)
        }
        for ((name, record), row) in zip(found, memberships) {
            let before = self.zone.share(of: row)
            guard before != share else { continue }
            if let before {
                changes.note(before, isArrival: false, record, named: name, at: try next())
            }
            var since = position
            if let share, isNotifying {
                since = try next()
                changes.note(share, isArrival: true, record, named: name, at: since)
            }
            changes.set(share, of: record, since: since)
            changed.append(name)
        }
        try self.write(changes)
        return changed
    }

    /// Writes memberships of records, and the change hints for the readers of their shares.
    private func write(_ changes: MembershipChanges) throws(StorageFailure) {
        let transaction = self.zone.transaction
        if !changes.set.isEmpty { try transaction.put(changes.set, in: MembershipRow.table) }
        if !changes.removed.isEmpty {
            try transaction.delete(keys: changes.removed, from: MembershipRow.table)
        }
        try transaction.note(
            changes.noted,
            in: self.zone.key,
            environment: self.zone.rule.requester.environment
        )
        for share in Set(changes.noted.map(\.share)) { try transaction.noteChange(of: share) }
    }

    // MARK: - Deletes

    /// Ends what sharing has of a record that is about to be deleted: its membership and its URLs.
    ///
    /// The readers of its share are notified.
    ///
    /// - Returns: The share that it belonged to; `nil` if to none.
    func endSharing(of record: StoredRecord, named name: String) throws(StorageFailure) -> ShareNumber? {
        let transaction = self.zone.transaction
        try transaction.forgetTokens(of: name, in: self.zone.key)
        let share = try self.zone.storedMembership(of: record)
        if let share {
            try transaction.delete(MembershipRow(record: record.number, share: share, since: 0))
        }
        let told = self.zone.shares.zoneWide?.number ?? share
        if let told { try transaction.noteChange(of: told) }
        return share
    }

    /// Ends the share with the deleted record: its root says so, and its participants lose access.
    func endShare(named name: String) throws(StorageFailure) {
        guard let share = self.zone.shares.share(named: name) else { return }
        let transaction = self.zone.transaction
        try transaction.deleteShare(share)
        self.zone.shares.remove(share)
        guard let root = share.root, let record = try transaction.record(named: root, in: self.zone.key)
        else {
            return
        }
        let body = record.body.withReference(toShare: nil)
        guard body != record.body else { return }
        try self.rewriting.rewrite(record, named: root, with: body)
    }

    /// Takes the requester out of a share.
    func leave(_ share: StoredShare) throws(StorageFailure) { try self.rewriting.leave(share) }

    private var rewriting: RecordRewriting {
        RecordRewriting(
            transaction: self.zone.transaction,
            requester: self.zone.rule.requester,
            zone: self.zone.key,
            zoneName: self.zone.id.zoneName
        )
    }
}

extension ShareParticipant {
    /// Whether the participant was invited by a URL that is good for one person.
    var isForWhoeverComes: Bool {
        self.identity.userRecordName.isEmpty && self.identity.lookup == nil && self.acceptance == .pending
    }
}

/// Writes of share memberships of some records.
private struct MembershipChanges {
    /// Rows of `MembershipRow.table`.
    private(set) var set: [[ColumnValue]] = []
    /// Keys of such rows.
    private(set) var removed: [[ColumnValue]] = []
    private(set) var noted: [MembershipChange] = []

    /// Gives a record a share; `nil` if it belongs to none now.
    mutating func set(_ share: ShareNumber?, of record: StoredRecord, since position: Int64) {
        if let share {
            self.set.append(
                MembershipRow(record: record.number, share: share, since: position).values
            )
        } else {
            self.removed.append([.integer(record.number)])
        }
    }

    /// Notes that a record came under a share, or left it; positions ascend.
    mutating func note(
        _ share: ShareNumber,
        isArrival: Bool,
        _ record: StoredRecord,
        named name: String,
        at position: Int64
    ) {
        self.noted.append(
            MembershipChange(
                position: position,
                share: share,
                isArrival: isArrival,
                record: record.number,
                name: name,
                recordType: record.recordType
            )
        )
    }
}
