/// Pending changes of zones, in order, one for each zone: the last that was added.
struct PendingZoneChanges: Sendable {
    /// All of them, in order.
    private(set) var changes: [CKSyncEngine.PendingDatabaseChange] = []

    var isEmpty: Bool { self.changes.isEmpty }

    mutating func add(_ change: CKSyncEngine.PendingDatabaseChange) {
        // Changes of the same kind and zone are equal; the later object counts.
        if let index = self.changes.firstIndex(of: change) {
            self.changes[index] = change
        } else {
            self.changes.removeAll { $0.zoneID == change.zoneID }
            self.changes.append(change)
        }
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

    /// Returns the changes of the next request: in order, at most a given number.
    func batch(
        countMax: Int,
        where isWanted: (CKRecordZone.ID) -> Bool
    ) -> [CKSyncEngine.PendingDatabaseChange] {
        Array(self.changes.filter { isWanted($0.zoneID) }.prefix(countMax))
    }
}
