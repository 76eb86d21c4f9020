package import RecordModel
package import StorageContract

/// The rules that say who may do what (`Protocol/README.md`, section 5.6).
package enum Access {
    /// Whether the requester may change anything in the database at all.
    package static func checkWriting(by requester: Requester) throws(StoreError) {
        guard requester.userRecordName != nil else { throw .notSignedIn }
    }

    /// Whether the requester may read the database.
    package static func checkReading(by requester: Requester) throws(StoreError) {
        switch requester.scope {
        case .public: return
        case .private, .shared: guard requester.userRecordName != nil else { throw .notSignedIn }
        }
    }

    /// Which records of a type the requester may find with a query.
    ///
    /// `grants` are those of the type, `roles` the custom roles of the requester.
    package static func readRule(
        grants: [Grant],
        roles: Set<String>,
        requester: Requester
    ) -> ReadRule {
        TypeAccess(grants: grants, roles: roles, requester: requester).readRule
    }

    /// Whether the words of a zone ID mean a zone of the requester's own.
    package static func isOwn(_ zone: ZoneID, of requester: Requester) -> Bool {
        zone.ownerName.isEmpty || zone.ownerName == requester.userRecordName
    }

    /// The name under which the requester's database has a zone; `nil` if it can't have it.
    package static func storedName(of zone: ZoneID, for requester: Requester) -> String? {
        let isOwn = self.isOwn(zone, of: requester)
        guard requester.scope == .shared else { return isOwn ? zone.zoneName : nil }
        return isOwn ? nil : SharedZoneName.text(of: zone)
    }

    /// The zone that a requester's database has under a name.
    package static func zone(storedAs name: String, for requester: Requester) -> ZoneID {
        requester.scope == .shared ? SharedZoneName.zone(name) : ZoneID(zoneName: name)
    }

    /// Whether two zone IDs mean the same.
    static func isSame(_ zone: ZoneID, _ other: ZoneID, for requester: Requester) -> Bool {
        func owner(_ zone: ZoneID) -> String {
            zone.ownerName.isEmpty ? requester.userRecordName ?? "" : zone.ownerName
        }
        return zone.zoneName == other.zoneName && owner(zone) == owner(other)
    }
}

/// The rights of one requester to the records of one type: the sum of all their roles.
package struct TypeAccess: Hashable, Sendable {
    /// With every record of the type.
    package let toAll: Permissions
    /// With those that the requester created.
    package let toOwn: Permissions
    /// The requester; `nil` if no record counts as their own.
    package let creator: String?

    /// Everything: a private database is its user's.
    package static let everything = TypeAccess(toAll: [.create, .read, .write], toOwn: [], creator: nil)

    /// The rights to records that the requester may not see.
    static let nothing = TypeAccess(toAll: [], toOwn: [], creator: nil)
    static let reading = TypeAccess(toAll: .read, toOwn: [], creator: nil)

    private init(toAll: Permissions, toOwn: Permissions, creator: String?) {
        self.toAll = toAll
        self.toOwn = toOwn
        self.creator = creator
    }

    /// Sums up the grants of a type.
    ///
    /// `roles` are the custom roles of the requester.
    package init(grants: [Grant], roles: Set<String>, requester: Requester) {
        guard requester.scope == .public else {
            self = requester.scope == .private ? .everything : Self(toAll: [], toOwn: [], creator: nil)
            return
        }
        guard !requester.isOperator else {
            self = .reading
            return
        }
        let isSignedIn = requester.userRecordName != nil
        var toAll: Permissions = []
        var toOwn: Permissions = []
        for grant in grants {
            switch grant.role {
            case SystemRole.world: toAll.formUnion(grant.permissions)
            case SystemRole.signedIn: if isSignedIn { toAll.formUnion(grant.permissions) }
            case SystemRole.creator: if isSignedIn { toOwn.formUnion(grant.permissions) }
            default: if isSignedIn, roles.contains(grant.role) { toAll.formUnion(grant.permissions) }
            }
        }
        self.init(toAll: toAll, toOwn: toOwn, creator: requester.userRecordName)
    }

    /// Which records of the type a query may find.
    package var readRule: ReadRule {
        if self.toAll.contains(.read) { return .all }
        if let creator = self.creator, self.toOwn.contains(.read) { return .own(creator: creator) }
        return .none
    }

    /// The same in a feed, which lists what no query finds.
    ///
    /// In a feed, users read only their own user record.
    func inFeed(ofType type: String) -> TypeAccess {
        guard type == UserRecord.type, self.toAll.contains(.read) else { return self }
        return TypeAccess(toAll: [], toOwn: .read, creator: self.creator)
    }

    /// Whether a record may be made: a record that does not exist has no creator.
    package var mayCreate: Bool { self.toAll.contains(.create) }

    package func mayRead(_ record: StoredRecord) -> Bool {
        self.mayRead(recordCreatedBy: record.system.createdBy)
    }

    /// Whether a record may be read when only its creator is still known.
    package func mayRead(recordCreatedBy author: String) -> Bool { self.permits(.read, author) }

    /// Whether a record may be changed or deleted.
    package func mayWrite(_ record: StoredRecord) -> Bool { self.permits(.write, record.system.createdBy) }

    private func permits(_ permission: Permissions, _ author: String) -> Bool {
        if self.toAll.contains(permission) { return true }
        guard let creator = self.creator else { return false }
        return author == creator && self.toOwn.contains(permission)
    }
}
