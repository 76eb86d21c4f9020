/// Pending changes of records, in order, one for each record.
///
/// Each addition notes a stamp, also for a change that is there. So a change that was added again
/// while the delegate made a batch of the earlier one can be told apart from that, and outlives it.
struct PendingRecordChanges: Sendable {
    private struct Slot: Sendable {
        var change: CKSyncEngine.PendingRecordZoneChange
        var stamp: UInt64
    }

    /// In order of arrival; `nil` if it was removed.
    private var slots: [Slot?] = []
    private var indices: [CKRecord.ID: Int] = [:]
    /// The stamp of the last addition.
    private(set) var stamp: UInt64 = 0

    var isEmpty: Bool { self.indices.isEmpty }
    var count: Int { self.indices.count }

    /// All of them, in order.
    var changes: [CKSyncEngine.PendingRecordZoneChange] {
        var changes: [CKSyncEngine.PendingRecordZoneChange] = []
        changes.reserveCapacity(self.count)
        for case let slot? in self.slots { changes.append(slot.change) }
        return changes
    }

    /// Adds a change.
    ///
    /// A change that is there keeps its position. It replaces another change of the same record.
    mutating func add(_ change: CKSyncEngine.PendingRecordZoneChange) {
        self.stamp += 1
        if let index = self.indices[change.recordID] {
            if self.slots[index]?.change == change {
                self.slots[index]?.stamp = self.stamp
                return
            }
            self.remove(at: index, of: change.recordID)
        }
        self.indices[change.recordID] = self.slots.count
        self.slots.append(Slot(change: change, stamp: self.stamp))
    }

    /// Removes a change, but not another one of the same record, nor one that was added after a
    /// stamp.
    ///
    /// - Returns: Whether a change was removed.
    @discardableResult
    mutating func remove(_ change: CKSyncEngine.PendingRecordZoneChange, asOf stamp: UInt64 = .max) -> Bool {
        guard let index = self.indices[change.recordID], let slot = self.slots[index], slot.change == change,
            slot.stamp <= stamp
        else { return false }
        self.remove(at: index, of: change.recordID)
        return true
    }

    /// Puts changes back at the front, in order, unless another change of their record is pending
    /// by now.
    mutating func putBack(_ changes: [CKSyncEngine.PendingRecordZoneChange]) {
        let missing = changes.filter { self.indices[$0.recordID] == nil }
        guard !missing.isEmpty else { return }
        self.slots = missing.map { Slot(change: $0, stamp: 0) } + self.slots.filter { $0 != nil }
        self.renumber()
    }

    mutating func removeAll() {
        self.slots = []
        self.indices = [:]
    }

    private mutating func remove(at index: Int, of id: CKRecord.ID) {
        self.slots[index] = nil
        self.indices[id] = nil
        guard self.slots.count > 64, self.slots.count > 2 * self.count else { return }
        self.slots = self.slots.filter { $0 != nil }
        self.renumber()
    }

    private mutating func renumber() {
        for (index, slot) in self.slots.enumerated() {
            if let slot { self.indices[slot.change.recordID] = index }
        }
    }
}
