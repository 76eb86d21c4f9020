import StorageContract

/// The size of a row in `RowBytes`, as expressions over the columns of its table.
extension RowBytes {
    enum SQL {
        static let record = "\(RowBytes.recordBase) + 2 * length(name)"
        static let tombstone = "\(RowBytes.tombstoneBase) + 2 * length(name)"
        static let entry = "\(RowBytes.entryBase) + length(value)"
        static let reference = "\(RowBytes.referenceBase) + length(target) + length(holder)"
        static let zone = "\(RowBytes.zoneBase) + 2 * length(name)"
        static let zoneTombstone = "\(RowBytes.zoneTombstoneBase) + length(name)"
        static let request = "\(RowBytes.outcomeBase) + length(outcome)"
        static let subscription = """
            \(RowBytes.subscriptionBase) + 2 * length(id) + 2 * length(definition) + coalesce(length(info), 0)
            """
        static let cursor = "\(RowBytes.cursor)"
        static let share = "\(RowBytes.shareBase) + 2 * length(name)"
        static let shareToken = "\(RowBytes.shareTokenBase) + 2 * length(root)"
        static let coverChange = "\(RowBytes.coverChangeBase) + length(name)"
        static let assetUse = "\(RowBytes.assetUse)"
        static let asset = """
            \(RowBytes.assetBase) + (\(RowBytes.fileBlock) - size % \(RowBytes.fileBlock)) % \(RowBytes.fileBlock)
            """
    }
}
