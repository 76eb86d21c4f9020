import RecordModel
import RecordStore

/// What a reader may do in a zone, read by the writer or in a snapshot.
struct ShareGrants {
    let statement: HotStatement
    let expired: HotStatement

    func access(to zone: ZoneKey, of reader: DatabaseID) throws(StorageFailure) -> SharedAccess {
        self.statement.bind(1, zone.database.rawValue)
        self.statement.bind(2, zone.number)
        self.statement.bind(3, reader.rawValue)
        var grants: [ShareGrant] = []
        func number(_ column: Int32) -> UInt8 { UInt8(truncatingIfNeeded: self.statement.integer(column)) }
        while try self.statement.step() {
            grants.append(
                ShareGrant(
                    share: StoredShare(self.statement, in: zone),
                    permission: SharePermission(rawValue: number(3)) ?? .unknown,
                    role: ShareRole(rawValue: number(4)) ?? .unknown
                )
            )
        }
        self.expired.bind(1, zone.database.rawValue)
        self.expired.bind(2, zone.number)
        self.expired.bind(3, reader.rawValue)
        defer { self.expired.reset() }
        let through = try self.expired.step() ? self.expired.integer(0) : 0
        return SharedAccess(grants, expiredThrough: through)
    }
}

/// Where the tokens of URLs lead.
struct SharePlaces {
    let place: HotStatement
    let shareOfRoot: HotStatement
    let ownerZone: HotStatement

    func place(ofToken token: String) throws(StorageFailure) -> SharePlace? {
        self.place.bind(1, token)
        guard try self.place.step() else { return nil }
        let zone = ZoneKey(
            database: DatabaseID(rawValue: self.place.integer(0)),
            number: self.place.integer(1)
        )
        let (root, participant) = (self.place.text(2), self.place.text(3))
        self.place.reset()
        guard let owner = try self.owner(of: zone) else { return nil }
        self.shareOfRoot.bind(1, zone.database.rawValue)
        self.shareOfRoot.bind(2, zone.number)
        self.shareOfRoot.bind(3, root)
        defer { self.shareOfRoot.reset() }
        let share = try self.shareOfRoot.step() ? StoredShare(self.shareOfRoot, in: zone) : nil
        return SharePlace(
            zone: zone,
            zoneName: owner.zone,
            environment: owner.environment,
            ownerName: owner.user,
            share: share,
            participant: participant
        )
    }

    struct Owner {
        let zone: String
        let user: String
        let environment: EnvironmentID
    }

    /// The name of a zone and of its owner; `nil`: the zone is gone.
    func owner(of zone: ZoneKey) throws(StorageFailure) -> Owner? {
        self.ownerZone.bind(1, zone.database.rawValue)
        self.ownerZone.bind(2, zone.number)
        guard try self.ownerZone.step() else { return nil }
        defer { self.ownerZone.reset() }
        return Owner(
            zone: self.ownerZone.text(0),
            user: self.ownerZone.text(1),
            environment: EnvironmentID(rawValue: self.ownerZone.integer(2))
        )
    }
}

/// Finds users by what they are known by.
struct UserSearch {
    let byName: HotStatement
    let byContact: HotStatement

    func user(
        _ lookup: IdentityLookup,
        in environment: EnvironmentID
    ) throws(StorageFailure) -> String? {
        guard let contact = UserContact(lookup) else {
            guard case .userRecordName(let name) = lookup else { return nil }
            self.byName.bind(1, name)
            self.byName.bind(2, environment.rawValue)
            return try Self.text(self.byName)
        }
        self.byContact.bind(1, contact.kind)
        self.byContact.bind(2, contact.value)
        self.byContact.bind(3, environment.rawValue)
        return try Self.text(self.byContact)
    }

    private static func text(_ statement: HotStatement) throws(StorageFailure) -> String? {
        guard try statement.step() else { return nil }
        defer { statement.reset() }
        return statement.text(0)
    }
}
