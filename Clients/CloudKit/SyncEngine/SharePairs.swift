/// New shares and their roots: a server takes both in one request alone, so no batch has one of them
/// while the other is in a later one.
extension CKSyncEngine.RecordZoneChangeBatch {
    /// Leaves out each record with a share or root among later changes, unless nothing would be
    /// left.
    ///
    /// - Parameter later: The pending changes that the batch has no room for.
    mutating func keepSharesWhole(later: some Sequence<CKSyncEngine.PendingRecordZoneChange>) {
        let counterparts = Set(self.recordsToSave.compactMap(\.shareOrRootID))
        if counterparts.isEmpty { return }
        let apart = Set(
            later.compactMap { change -> CKRecord.ID? in
                guard case .saveRecord(let id) = change, counterparts.contains(id) else { return nil }
                return id
            }
        )
        if apart.isEmpty { return }
        let whole = self.recordsToSave.filter { record in
            record.shareOrRootID.map { !apart.contains($0) } ?? true
        }
        if whole.isEmpty, self.recordIDsToDelete.isEmpty { return }
        self.recordsToSave = whole
    }

    /// The records to save, in order, but a share right after its root.
    var recordsWithSharesAfterRoots: [CKRecord] {
        var sharesByRoot: [CKRecord.ID: [CKRecord]] = [:]
        let ids = Set(self.recordsToSave.map(\.recordID))
        for case let share as CKShare in self.recordsToSave {
            guard let root = share.shareOrRootID, ids.contains(root) else { continue }
            sharesByRoot[root, default: []].append(share)
        }
        guard !sharesByRoot.isEmpty else { return self.recordsToSave }
        let moved = Set(sharesByRoot.values.joined().map(\.recordID))
        return self.recordsToSave.filter { !moved.contains($0.recordID) }.flatMap { record in
            [record] + (sharesByRoot[record.recordID] ?? [])
        }
    }
}

extension CKRecord {
    /// The root of a share, or the share of another record; `nil` if there is none.
    var shareOrRootID: CKRecord.ID? {
        guard let share = self as? CKShare else { return self.share?.recordID }
        return share.sharing.root.map { CKRecord.ID(recordName: $0, zoneID: share.recordID.zoneID) }
    }
}
