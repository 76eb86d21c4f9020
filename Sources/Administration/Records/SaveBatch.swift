package import RecordJSON
package import RecordModel
import RecordStore

/// Records that are saved in one request.
package struct SaveBatch {
    private let itemsMax: Int
    /// Of bodies; leaves room for the rest of a request.
    private let bytesMax: Int
    package private(set) var drafts: [RecordDraft] = []
    private var ids: Set<RecordID> = []
    private var bytes = 0

    package init(_ bounds: Bounds) {
        self.itemsMax = bounds.requestItemsMax
        self.bytesMax = bounds.requestBytesMax * 3 / 4
    }

    package var isEmpty: Bool { self.drafts.isEmpty }

    /// Whether another record of this size fits.
    package func hasRoom(for draft: RecordDraft) -> Bool {
        self.drafts.isEmpty
            || (self.drafts.count < self.itemsMax
                && self.bytes + draft.changes.bytes.count <= self.bytesMax)
    }

    /// Adds a record; returns `false` if the batch has one of this ID.
    package mutating func add(_ draft: RecordDraft, as id: RecordID) -> Bool {
        guard self.ids.insert(id).inserted else { return false }
        self.drafts.append(draft)
        self.bytes += draft.changes.bytes.count
        return true
    }

    package mutating func removeAll() {
        self.drafts = []
        self.ids = []
        self.bytes = 0
    }
}

extension RecordDraft {
    package func save(as id: RecordID, changeTag: String?, changes: RecordBody) -> RecordSave {
        RecordSave(
            id: id,
            recordType: self.recordType,
            changeTag: changeTag,
            changes: changes,
            parent: self.parent
        )
    }
}

extension RecordBody {
    /// These changes, and the removal of every field of a record that they do not name.
    package func clearingOthers(of existing: RecordBody) -> RecordBody {
        let given = self.fields
        let names = Set(given.map(\.name))
        let others = existing.fields.filter { !names.contains($0.name) }
        guard !others.isEmpty else { return self }
        return RecordBody(given + others.map { Field(name: $0.name, value: .clear) })
    }
}
