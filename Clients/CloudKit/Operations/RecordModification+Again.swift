internal import RecordModel
internal import WireProtocol

// The server may lose files between their upload and the save: if the grace time is short, or an
// older backup was restored.
extension RecordModification {
    var hasUploads: Bool { self.uploadedItems.contains(true) }

    /// Returns the saves that failed because the server lost a file, and the items that failed with
    /// them in an atomic zone.
    func again(refused: [Item]) -> (request: RecordModification, items: Set<UInt32>)? {
        guard !refused.isEmpty else { return nil }
        let uploaded = self.uploadedItems
        var items: Set<UInt32> = []
        for item in refused where Int(item.index) < uploaded.count && uploaded[Int(item.index)] {
            if item.failure?.code == .assetNotAvailable { items.insert(item.index) }
        }
        guard !items.isEmpty else { return nil }
        for item in refused {
            if case .atomicPeer(let culprit)? = item.failure?.cause, items.contains(culprit) {
                items.insert(item.index)
            }
        }
        return (self.again(items), items)
    }
}

extension Item {
    fileprivate var failure: Failure? {
        guard case .failure(let failure) = self.outcome else { return nil }
        return failure
    }
}
