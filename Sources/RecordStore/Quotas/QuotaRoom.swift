import RecordModel
package import StorageContract

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

extension UsageTransaction {
    /// Returns the bytes that a database may still take under the tighter of its quotas; `nil` if
    /// there is none.
    func room(
        in database: DatabaseID,
        under quotas: StorageQuotas
    ) throws(StorageFailure) -> QuotaRoom? {
        guard quotas.isAny else { return nil }
        var room: QuotaRoom?
        for quota in quotas.all {
            guard let stored = try self.bytesStored(under: quota, with: database) else { continue }
            let left = quota.bytesMax.adding(clamped: 0 &- stored)
            if room.map({ left < $0.bytes }) ?? true { room = QuotaRoom(quota: quota, bytes: left) }
        }
        return room
    }

    /// Returns the error of a save that would make the database grow by this much, or `nil` if it
    /// may.
    ///
    /// Before it refuses, it removes assets that no record has named for a while, except those that
    /// are `wanted`.
    func refusal(
        ofGrowth bytes: Int,
        in database: DatabaseID,
        under quotas: StorageQuotas,
        wanted: Set<AssetNumber> = []
    ) throws(StorageFailure) -> StoreError? {
        guard bytes > 0, let room = try self.room(in: database, under: quotas), bytes > room.bytes else {
            return nil
        }
        if try self.giveUpUnnamed(in: database, except: wanted) {
            return try self.refusal(ofGrowth: bytes, in: database, under: quotas, wanted: wanted)
        }
        return .quotaExceeded(room.quota)
    }
}

extension StorageQuotas {
    /// The quotas that there are; the container's first, which wins if both leave the same.
    fileprivate var all: [Quota] {
        var quotas: [Quota] = []
        if self.containerBytes > 0 { quotas.append(Quota(of: .container, bytesMax: self.containerBytes)) }
        if self.userBytes > 0 { quotas.append(Quota(of: .user, bytesMax: self.userBytes)) }
        return quotas
    }
}
