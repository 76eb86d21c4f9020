import RecordJSON
import RecordModel
import RecordStore

/// Records that are saved in one request.
struct SaveBatch {
    private let itemsMax: Int
    /// Of bodies; leaves room for the rest of a request.
    private let bytesMax: Int
    private(set) var drafts: [RecordDraft] = []
    private var ids: Set<RecordID> = []
    private var bytes = 0

    init(_ bounds: Bounds) {
        self.itemsMax = bounds.requestItemsMax
        self.bytesMax = bounds.requestBytesMax * 3 / 4
    }

    var isEmpty: Bool { self.drafts.isEmpty }
    var count: Int { self.drafts.count }

    /// Whether another record of this size fits.
    func hasRoom(for draft: RecordDraft) -> Bool {
        self.drafts.isEmpty
            || (self.drafts.count < self.itemsMax
                && self.bytes + draft.changes.bytes.count <= self.bytesMax)
    }

    /// Adds a record; returns `false` if the batch has one of this ID.
    mutating func add(_ draft: RecordDraft, as id: RecordID) -> Bool {
        guard self.ids.insert(id).inserted else { return false }
        self.drafts.append(draft)
        self.bytes += draft.changes.bytes.count
        return true
    }

    mutating func removeAll() {
        self.drafts = []
        self.ids = []
        self.bytes = 0
    }
}

extension RecordDraft {
    func save(as id: RecordID, changeTag: String?, changes: RecordBody) -> RecordSave {
        RecordSave(
            id: id,
            recordType: self.recordType,
            changeTag: changeTag,
            changes: changes,
            parent: self.parent
        )
    }
}
