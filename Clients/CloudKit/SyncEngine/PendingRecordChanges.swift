/// Pending changes of records, in order, one for each record.
///
/// Each addition notes a stamp, also for a change that is there. So a change that was added again
/// while the delegate made a batch of the earlier one can be told apart from that, and outlives it.
///
/// - Cost: The app holds the last state, which shares all this. The removal of a batch then copies
///   the blocks that it empties, and neither the other blocks nor the indices: those of removed
///   changes go with the next renumbering, when half of the slots are empty.
struct PendingRecordChanges: Sendable {
    private struct Slot: Sendable {
        var change: CKSyncEngine.PendingRecordZoneChange
        var stamp: UInt64
    }

    private static let slotsPerBlock = 256

    /// Slots in order of arrival, `nil` if their change was removed.
    ///
    /// All blocks but the last are full.
    private var blocks: [[Slot?]] = []
    private var slotCount = 0
    /// The last slot of each record, which may be empty.
    private var indices: [CKRecord.ID: Int] = [:]
    /// How many slots have a change.
    private(set) var count = 0
    /// The stamp of the last addition.
    private(set) var stamp: UInt64 = 0

    var isEmpty: Bool { self.count == 0 }

    /// All of them, in order.
    var changes: [CKSyncEngine.PendingRecordZoneChange] {
        var changes: [CKSyncEngine.PendingRecordZoneChange] = []
        changes.reserveCapacity(self.count)
        for block in self.blocks {
            for case let slot? in block { changes.append(slot.change) }
        }
        return changes
    }

    /// Adds a change.
    ///
    /// A change that is there keeps its position. It replaces another change of the same record.
    mutating func add(_ change: CKSyncEngine.PendingRecordZoneChange) {
        self.stamp += 1
        let slot = Slot(change: change, stamp: self.stamp)
        if let index = self.indices[change.recordID], let older = self[index] {
            if older.change == change {
                self[index] = slot
                return
            }
            self.empty(index)
        }
        self.append(slot)
    }

    /// Removes a change, but not another one of the same record, nor one that was added after a
    /// stamp.
    ///
    /// - Returns: Whether a change was removed.
    @discardableResult
    mutating func remove(_ change: CKSyncEngine.PendingRecordZoneChange, asOf stamp: UInt64 = .max) -> Bool {
        guard let index = self.indices[change.recordID], let slot = self[index], slot.change == change,
            slot.stamp <= stamp
        else { return false }
        self.empty(index)
        return true
    }

    /// Puts changes back at the front, in order, unless another change of their record is pending
    /// by now.
    mutating func putBack(_ changes: [CKSyncEngine.PendingRecordZoneChange]) {
        let missing = changes.filter { self.indices[$0.recordID].flatMap { self[$0] } == nil }
        guard !missing.isEmpty else { return }
        self.renumber(after: missing.map { Slot(change: $0, stamp: 0) })
    }

    mutating func removeAll() {
        self.blocks = []
        self.indices = [:]
        self.slotCount = 0
        self.count = 0
    }

    // MARK: Slots

    private subscript(index: Int) -> Slot? {
        get { self.blocks[index / Self.slotsPerBlock][index % Self.slotsPerBlock] }
        set { self.blocks[index / Self.slotsPerBlock][index % Self.slotsPerBlock] = newValue }
    }

    private mutating func append(_ slot: Slot) {
        if self.slotCount.isMultiple(of: Self.slotsPerBlock) { self.blocks.append([]) }
        self.blocks[self.blocks.count - 1].append(slot)
        self.indices[slot.change.recordID] = self.slotCount
        self.slotCount += 1
        self.count += 1
    }

    private mutating func empty(_ index: Int) {
        self[index] = nil
        self.count -= 1
        if self.slotCount > 64, self.slotCount > 2 * self.count { self.renumber(after: []) }
    }

    /// Puts slots in front of those that have a change, and gives all new indices.
    private mutating func renumber(after first: [Slot]) {
        let (blocks, count) = (self.blocks, self.count)
        self.removeAll()
        self.indices.reserveCapacity(first.count + count)
        for slot in first { self.append(slot) }
        for block in blocks {
            for case let slot? in block { self.append(slot) }
        }
    }
}
