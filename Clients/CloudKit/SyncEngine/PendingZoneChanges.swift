/// Pending changes of zones, in order: at most a deletion and then a creation of each zone.
///
/// A zone that is deleted and created again is then empty, so a creation does not cancel a
/// deletion. A zone that is created and deleted is deleted.
struct PendingZoneChanges: Sendable {
    /// All of them, in order.
    private(set) var changes: [CKSyncEngine.PendingDatabaseChange] = []

    var isEmpty: Bool { self.changes.isEmpty }

    mutating func add(_ change: CKSyncEngine.PendingDatabaseChange) {
        if case .deleteZone(let id) = change { self.changes.removeAll { $0.isSave && $0.zoneID == id } }
        guard let index = self.changes.firstIndex(of: change) else { return self.changes.append(change) }
        // Changes of the same zone are equal; the later object counts.
        self.changes[index] = change
    }

    /// - Returns: Whether a change was removed.
    @discardableResult
    mutating func remove(_ change: CKSyncEngine.PendingDatabaseChange) -> Bool {
        let count = self.changes.count
        self.changes.removeAll { $0 == change }
        return self.changes.count < count
    }

    /// Puts changes back at the front, in order, unless later ones have replaced them.
    mutating func putBack(_ changes: [CKSyncEngine.PendingDatabaseChange]) {
        var merged = PendingZoneChanges()
        for change in changes + self.changes { merged.add(change) }
        self = merged
    }

    mutating func removeAll() { self.changes = [] }

    /// Returns the changes of the next request: in order, at most a given number, no zone twice.
    func batch(
        countMax: Int,
        where isWanted: (CKRecordZone.ID) -> Bool
    ) -> [CKSyncEngine.PendingDatabaseChange] {
        var zones: Set<CKRecordZone.ID> = []
        var batch: [CKSyncEngine.PendingDatabaseChange] = []
        for change in self.changes where isWanted(change.zoneID) {
            guard batch.count < countMax else { break }
            // Of two changes of a zone the first is sent now, the other with the next request.
            if zones.insert(change.zoneID).inserted { batch.append(change) }
        }
        return batch
    }
}
