package import RecordModel

/// The target of an undo.
package enum UndoTarget: Hashable, Sendable {
    /// The state that the changes up to a position made.
    case position(Int64)
    /// The state of a moment: everything from the first later change on is undone.
    case milliseconds(Int64)
}

/// The author of the changes that are undone.
package enum ChangeAuthor: Hashable, Sendable {
    /// User record name.
    case user(String)
    /// 16 bytes.
    case installation([UInt8])

    package func made(_ change: PastChange) -> Bool {
        switch self {
        case .user(let name): change.author == name
        case .installation(let bytes): change.installation == bytes
        }
    }
}

/// Finds which records of a zone an undo concerns, from the changes behind its target in their order.
///
/// The first change of a record to be undone holds the record's earlier state. If another user
/// changed the record after that, the undo of an author's changes would undo theirs as well: the
/// record is contested. Without an author everything is undone, and nothing is contested.
///
/// Names and positions are in memory, and no body.
package struct UndoPlan: Sendable {
    /// A record that was changed.
    package struct Item: Hashable, Sendable {
        package var recordName: String
        package var recordType: String
        /// The first change to be undone; it replaced the record's earlier state.
        package var position: Int64
        /// Whether there was a record before that change.
        package var wasThere: Bool
        /// The user who changed the record after the author; `nil` if there is none.
        package var laterAuthor: String?
    }

    package let target: UndoTarget
    package let author: ChangeAuthor?
    /// In the order of the first change of each.
    package private(set) var items: [Item] = []
    /// The number of changes to undo.
    package private(set) var changes = 0
    /// The position that the undo leads back to; `nil` if there is no change behind the target.
    package private(set) var position: Int64?
    private var offsets: [ExactName: Int] = [:]

    package init(to target: UndoTarget, by author: ChangeAuthor? = nil) {
        self.target = target
        self.author = author
    }

    /// Takes the next change of the zone.
    package mutating func add(_ change: PastChange) {
        guard self.isBehindTarget(change) else { return }
        if self.position == nil { self.position = change.position &- 1 }
        let isMeant = self.author?.made(change) ?? true
        if isMeant { self.changes += 1 }
        if let offset = self.offsets[ExactName(change.recordName)] {
            if !isMeant { self.items[offset].laterAuthor = change.author }
            return
        }
        guard isMeant else { return }
        self.offsets[ExactName(change.recordName)] = self.items.count
        self.items.append(
            Item(
                recordName: change.recordName,
                recordType: change.recordType,
                position: change.position,
                wasThere: change.before != nil
            )
        )
    }

    /// Clocks may be set back: behind the first later change all are.
    private func isBehindTarget(_ change: PastChange) -> Bool {
        if self.position != nil { return true }
        return switch self.target {
        case .position(let position): change.position > position
        case .milliseconds(let time): change.milliseconds > time
        }
    }
}

/// The step of an undo for one record.
package enum UndoStep: Hashable, Sendable {
    /// It is as it was.
    case none
    /// It is gone: `save` makes it again.
    case create(RecordSave)
    /// It is there: `save` gives it the fields that it had, by its change tag. With the names of the
    /// fields that differ.
    case change(RecordSave, fields: [String])
    case delete
    /// It was deleted and made again as a record of another type, which it keeps for life.
    case refuse(type: String)

    /// Compares the earlier and the current state of a record; `nil` if it did not or does not
    /// exist.
    ///
    /// The field that names a share which begins at the record stays: an undo ends no share.
    package init(_ id: RecordID, from past: PastRecord?, to current: Record?) {
        guard let past else {
            self = current == nil ? .none : .delete
            return
        }
        let wanted = past.body.withoutShare
        guard let current else {
            self = .create(
                RecordSave(
                    id: id,
                    recordType: past.recordType,
                    changeTag: nil,
                    changes: wanted,
                    parent: past.parent.map { .set(recordName: $0) } ?? .unchanged
                )
            )
            return
        }
        guard current.recordType == past.recordType else {
            self = .refuse(type: current.recordType)
            return
        }
        let there = current.body.withoutShare
        var fields = wanted.names(differingFrom: there)
        var parent = RecordSave.ParentChange.unchanged
        if !ExactName.areSame(past.parent, current.parent) {
            parent = past.parent.map { .set(recordName: $0) } ?? .removed
            fields.append("___parent")
        }
        guard !fields.isEmpty else {
            self = .none
            return
        }
        self = .change(
            RecordSave(
                id: id,
                recordType: past.recordType,
                changeTag: current.changeTag,
                changes: wanted.changes(to: there),
                parent: parent
            ),
            fields: fields
        )
    }
}

extension RecordBody {
    /// This body without what says that a share begins at its record.
    fileprivate var withoutShare: RecordBody {
        self.merging(RecordBody([Field(name: ShareRecord.referenceField, value: .clear)]))
    }

    /// Names of fields that differ, in order; one that only one body has does.
    fileprivate func names(differingFrom other: RecordBody) -> [String] {
        let (ours, theirs) = (self.entries, other.entries)
        return Set(ours.keys).union(theirs.keys).filter { ours[$0] != theirs[$0] }.sorted()
    }

    /// The changes that make a record with a body have this one.
    fileprivate func changes(to existing: RecordBody) -> RecordBody {
        let ours = self.entries
        let others = existing.slices.map { existing.name(of: $0) }.filter { ours[$0] == nil }
        guard !others.isEmpty else { return self }
        return RecordBody(self.fields + others.map { Field(name: $0, value: .clear) })
    }

    /// The bytes of each field, by name.
    private var entries: [String: ArraySlice<UInt8>] {
        var entries: [String: ArraySlice<UInt8>] = [:]
        for slice in self.slices { entries[self.name(of: slice)] = self.bytes[slice.entry] }
        return entries
    }
}
