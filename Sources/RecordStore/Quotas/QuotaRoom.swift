import RecordModel

/// The storage that a quota leaves.
package struct QuotaRoom: Hashable, Sendable {
    package var quota: Quota
    /// Negative if the quota was larger once, or if deletes have left more rows than they removed.
    package var bytes: Int64

    package init(quota: Quota, bytes: Int64) {
        self.quota = quota
        self.bytes = bytes
    }
}

extension AssetTransaction {
    /// Returns the error of a save that would make the database grow by this much, or `nil` if it
    /// may.
    func refusal(ofGrowth bytes: Int, in database: DatabaseID) throws(StorageFailure) -> StoreError? {
        guard bytes > 0, let room = try self.quotaRoom(in: database), bytes > room.bytes else { return nil }
        return .quotaExceeded(room.quota)
    }
}
