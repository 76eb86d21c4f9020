import RecordModel
import RecordStore

/// A read connection is a snapshot while `snapshot(_:)` runs: SQL, and nothing of what it means.
extension ReadConnection: Snapshot {
    // MARK: Shares

    func sharedAccess(to zone: ZoneKey, of reader: DatabaseID) throws(StorageFailure) -> SharedAccess {
        try self.sharing.access(to: zone, of: reader)
    }

    func memberships(of records: [RecordKey]) throws(StorageFailure) -> [ShareMembership?] {
        var memberships: [ShareMembership?] = []
        memberships.reserveCapacity(records.count)
        for record in records { memberships.append(try self.membership(of: record)) }
        return memberships
    }

    func membership(of record: RecordKey) throws(StorageFailure) -> ShareMembership? {
        try self.sharing.membership(of: record.number)
    }

    func membershipChanges(
        after position: Int64,
        in zone: ZoneKey,
        limit: Int
    ) throws(StorageFailure) -> [CoverChange] {
        try self.sharing.membershipChanges(after: position, in: zone, limit: limit) {
            (number) throws(StorageFailure) in
            try self.typeName(number)
        }
    }

    func zoneWideShare(of zone: ZoneKey) throws(StorageFailure) -> StoredShare? {
        try self.sharing.zoneWideShare(of: zone)
    }

    func shares(in zone: ZoneKey) throws(StorageFailure) -> [StoredShare] {
        try self.sharing.shares(in: zone)
    }

    func place(ofToken token: String) throws(StorageFailure) -> SharePlace? {
        try self.sharing.place(ofToken: token)
    }

    func user(
        _ lookup: IdentityLookup,
        in environment: EnvironmentID
    ) throws(StorageFailure) -> String? {
        try self.sharing.user(lookup, in: environment)
    }
}
