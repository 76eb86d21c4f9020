internal import RecordModel
internal import WireProtocol

// Files may go between their upload and the save: when the grace time is shorter than what lies between, or an older backup was restored.
extension RecordModification {
    var hasUploads: Bool { self.uploadedItems.contains(true) }

    /// Saves that were refused because the server does not have a file that it was given, and items that failed with them in an atomic zone.
    func again(refused: [Item]) -> (request: RecordModification, items: Set<UInt32>)? {
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
