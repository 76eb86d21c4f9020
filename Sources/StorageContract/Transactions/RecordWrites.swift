import RecordModel

/// A write set: all changes of the records of one zone that leave together.
///
/// Every record has its position when it is put here. Positions ascend: first those of the saves,
/// in their order, then those of the deletes. No record is here twice.
package struct RecordWrites: Sendable {
    /// A record that is written, with its index entries and its references.
    package struct Save: Sendable {
        package var name: String
        /// Its number is 0 if it is new.
        package var record: StoredRecord
        /// The record before the save: its type, creator, creation date and number stay; `nil` if
        /// it is new.
        package var existing: StoredRecord?
        package var entries: IndexChanges
        package var references: [ReferenceChange]

        package init(
            name: String,
            record: StoredRecord,
            existing: StoredRecord?,
            entries: IndexChanges = .none,
            references: [ReferenceChange] = []
        ) {
            self.name = name
            self.record = record
            self.existing = existing
            self.entries = entries
            self.references = references
        }
    }

    /// A record that goes, and leaves a tombstone.
    package struct Delete: Sendable {
        package var name: String
        /// The record before the change.
        package var record: StoredRecord
        /// The position of the tombstone.
        package var position: Int64
        package var entries: IndexChanges
        /// The records that it referred to.
        package var targets: [String]
        /// Whether its entries and references are unknown: the engine removes everything that the
        /// tables have of it.
        package var isDamaged: Bool
        /// The share that it belonged to, which the tombstone names; `nil` if to none.
        package var coveredBy: ShareNumber?

        package init(
            name: String,
            record: StoredRecord,
            position: Int64,
            entries: IndexChanges,
            targets: [String],
            isDamaged: Bool = false,
            coveredBy share: ShareNumber?
        ) {
            self.name = name
            self.record = record
            self.position = position
            self.entries = entries
            self.targets = targets
            self.isDamaged = isDamaged
            self.coveredBy = share
        }
    }

    package var saves: [Save] = []
    package var deletes: [Delete] = []

    package init() {}

    package var isEmpty: Bool { self.saves.isEmpty && self.deletes.isEmpty }

    /// The work of replacing and deleting bodies, beyond a unit for each record.
    package var workOfStoredBodies: Int {
        var bytes = 0
        for save in self.saves { bytes += save.existing?.body.bytes.count ?? 0 }
        for delete in self.deletes { bytes += delete.record.body.bytes.count }
        return WorkUnits.ofBytes(bytes)
    }
}

/// How a record refers to another after a change, and before.
package struct ReferenceChange: Hashable, Sendable {
    package var target: String
    /// Empty if the record no longer refers to the target.
    package var kinds: ReferenceKinds
    /// `nil` if it did not refer to it.
    package var before: ReferenceKinds?

    package init(target: String, kinds: ReferenceKinds, before: ReferenceKinds?) {
        self.target = target
        self.kinds = kinds
        self.before = before
    }
}
