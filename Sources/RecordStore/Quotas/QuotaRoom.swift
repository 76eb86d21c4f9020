import RecordModel

/// What a quota leaves.
package struct QuotaRoom: Hashable, Sendable {
    package var quota: Quota
    /// Below zero when the quota was larger once, or deletes have left more than they found.
    package var bytes: Int64

    package init(quota: Quota, bytes: Int64) {
        self.quota = quota
        self.bytes = bytes
    }
}

extension AssetTransaction {
    /// Why a database may not get so much more than it has; `nil`: it may.
    func refusal(ofGrowth bytes: Int, in database: DatabaseID) throws(StorageFailure) -> StoreError? {
        guard bytes > 0, let room = try self.quotaRoom(in: database), bytes > room.bytes else { return nil }
        return .quotaExceeded(room.quota)
    }
}
