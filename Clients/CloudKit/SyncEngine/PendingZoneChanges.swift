/// Changes of zones that wait to be sent, in order: at most a deletion and, after it, a creation of each zone.
///
/// A zone that is deleted and created again is empty then, so one does not make up for the other; a zone that is created and
/// deleted is deleted. Stamps are as those of `PendingRecordChanges`.
struct PendingZoneChanges: Sendable {
    private struct Slot: Sendable {
        var change: CKSyncEngine.PendingDatabaseChange
        var stamp: UInt64

        func isSave(of id: CKRecordZone.ID) -> Bool {
            if case .saveZone(let zone) = self.change { zone.zoneID == id } else { false }
        }
    }

    private var slots: [Slot] = []
    /// Of the last addition.
    private(set) var stamp: UInt64 = 0

    var isEmpty: Bool { self.slots.isEmpty }

    /// All of them, in order.
    var changes: [CKSyncEngine.PendingDatabaseChange] { self.slots.map(\.change) }

    mutating func add(_ change: CKSyncEngine.PendingDatabaseChange) {
        self.stamp += 1
        if case .deleteZone(let id) = change { self.slots.removeAll { $0.isSave(of: id) } }
        if let place = self.slots.firstIndex(where: { $0.change == change }) {
            self.slots[place] = Slot(change: change, stamp: self.stamp)
        } else {
            self.slots.append(Slot(change: change, stamp: self.stamp))
        }
    }

    /// Removes a change, but not one that was added, or asked for again, after a stamp.
    ///
    /// - Returns: Whether anything was removed.
    @discardableResult
    mutating func remove(_ change: CKSyncEngine.PendingDatabaseChange, asOf stamp: UInt64 = .max) -> Bool {
        let count = self.slots.count
        self.slots.removeAll { $0.change == change && $0.stamp <= stamp }
        return self.slots.count < count
    }

    mutating func removeAll() { self.slots = [] }

    /// The changes of the next request: in order, at most so many, no zone twice.
    func batch(
        countMax: Int,
        where isWanted: (CKRecordZone.ID) -> Bool
    ) -> [CKSyncEngine.PendingDatabaseChange] {
        var zones: Set<CKRecordZone.ID> = []
        var batch: [CKSyncEngine.PendingDatabaseChange] = []
        for slot in self.slots where isWanted(slot.change.zoneID) {
            guard batch.count < countMax else { break }
            // Of two changes of a zone the first goes, the other with the next request.
            if zones.insert(slot.change.zoneID).inserted { batch.append(slot.change) }
        }
        return batch
    }
}
