import RecordModel
package import StorageContract

extension IndexReader {
    /// Sums up the rights of a requester to the records of a type.
    package func access(
        toType type: String,
        for requester: Requester
    ) throws(StorageFailure) -> TypeAccess {
        guard requester.scope == .public else {
            return TypeAccess(grants: [], roles: [], requester: requester)
        }
        let stored = try self.type(named: type, in: requester.environment)
        let grants = SchemaRules.grantsInForce(stored?.grants ?? [], ofType: type)
        var roles: Set<String> = []
        if let user = requester.userRecordName, grants.nameCustomRoles {
            roles = try self.roles(ofUser: user, in: requester.environment)
        }
        return TypeAccess(grants: grants, roles: roles, requester: requester)
    }
}

/// Rights of a requester, by the rows of a snapshot.
extension Snapshot {
    /// Finds the requester's rights to a record of another user's zone; `nil` if they may not see
    /// it.
    func grant(of record: RecordKey, _ access: SharedAccess) throws(StorageFailure) -> ShareGrant? {
        if let zoneWide = access.zoneWide { return zoneWide }
        return access.grant(coveredBy: try self.membership(of: record)?.share)
    }

    /// Finds the share that a record belongs to, or its zone.
    func share(covering record: RecordKey) throws(StorageFailure) -> StoredShare? {
        let shares = try self.shares(in: record.zone)
        if let zoneWide = shares.first(where: { $0.root == nil }) { return zoneWide }
        guard let membership = try self.membership(of: record) else { return nil }
        return shares.first { $0.number == membership.share }
    }

    /// Finds where the records of a zone are that a requester names; `nil` if it is not there for them.
    ///
    /// In a shared database the zone may be there without anything in it that they may read.
    func key(of zone: ZoneID, for requester: Requester) throws(StorageFailure) -> ZoneKey? {
        guard let name = Access.storedName(of: zone, for: requester) else { return nil }
        return try self.zone(named: name, in: requester.database)
    }
}
