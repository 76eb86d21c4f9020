package import RecordModel

/// A record without its name.
///
/// Judging and writing a record copies this a dozen times, so its parts are behind one reference.
package struct StoredRecord: Hashable, Sendable {
    private final class Contents: Sendable {
        let recordType: String
        let system: SystemFields
        let parent: String?
        let body: RecordBody

        init(recordType: String, system: SystemFields, parent: String?, body: RecordBody) {
            self.recordType = recordType
            self.system = system
            self.parent = parent
            self.body = body
        }
    }

    /// The number of the record's key; 0 if it is not stored yet.
    package var number: Int64
    /// Its last change in the order of the database; the change tag is made from it.
    package var position: Int64
    private let contents: Contents

    package init(
        number: Int64,
        recordType: String,
        position: Int64,
        system: SystemFields,
        parent: String?,
        body: RecordBody
    ) {
        self.number = number
        self.position = position
        self.contents = Contents(recordType: recordType, system: system, parent: parent, body: body)
    }

    package var recordType: String { self.contents.recordType }
    package var system: SystemFields { self.contents.system }
    package var parent: String? { self.contents.parent }
    package var body: RecordBody { self.contents.body }

    /// Whether the storage gave other bytes than it took, as far as can be seen.
    ///
    /// Such a record can be deleted, and nothing else: to save it would lose the fields that cannot be
    /// read, and leave the index entries of lost values behind.
    package var isDamaged: Bool { self.position < 0 || !self.body.isIntact }

    package static func == (left: StoredRecord, right: StoredRecord) -> Bool {
        left.number == right.number && left.position == right.position
            && (left.contents === right.contents
                || (left.recordType == right.recordType && left.system == right.system
                    && ExactName.areSame(left.parent, right.parent) && left.body == right.body))
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(self.number)
        hasher.combine(self.position)
    }

    /// The record as it travels, cut to `keys` when there are some.
    package func record(id: RecordID, keeping keys: Set<String>? = nil) -> Record {
        Record(
            id: id,
            recordType: self.recordType,
            changeTag: ChangeTag.text(of: self.position),
            system: self.system,
            parent: self.parent,
            body: keys.map { self.body.keeping($0) } ?? self.body
        )
    }
}
