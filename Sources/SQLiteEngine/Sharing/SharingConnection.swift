import RecordModel
import RecordStore

/// What is read about shares within a snapshot of a read connection.
final class SharingConnection {
    private let grants, expired, cover, zoneWide, place, shareOfRoot, ownerZone, byName,
        byContact: HotStatement
    private let changes, inZone: HotStatement

    init(_ connection: OpaquePointer) throws(StorageFailure) {
        func statement(_ sql: String) throws(StorageFailure) -> HotStatement {
            try HotStatement(sql, on: connection)
        }
        self.grants = try statement(ShareQueries.grants)
        self.expired = try statement(ShareQueries.expiredThrough)
        self.cover = try statement(ShareQueries.cover)
        self.zoneWide = try statement(
            "\(ShareQueries.inZone) AND root IS NULL"
        )
        self.place = try statement(ShareQueries.place)
        self.shareOfRoot = try statement(ShareQueries.shareOfRoot)
        self.ownerZone = try statement(ShareQueries.ownerZone)
        self.byName = try statement(ShareQueries.userByName)
        self.byContact = try statement(ShareQueries.userByContact)
        self.changes = try statement(ShareQueries.changes)
        self.inZone = try statement(ShareQueries.inZone)
    }

    /// What a user, by his shared database, may do in a zone of somebody else.
    func access(to zone: ZoneKey, of reader: DatabaseID) throws(StorageFailure) -> SharedAccess {
        try ShareGrants(statement: self.grants, expired: self.expired).access(to: zone, of: reader)
    }

    /// The share that a record belongs to.
    func membership(of record: Int64) throws(StorageFailure) -> ShareMembership? {
        self.cover.bind(1, record)
        guard try self.cover.step() else { return nil }
        defer { self.cover.reset() }
        return ShareMembership(
            share: ShareNumber(rawValue: self.cover.integer(0)),
            since: self.cover.integer(1)
        )
    }

    func shares(in zone: ZoneKey) throws(StorageFailure) -> [StoredShare] {
        self.inZone.bind(1, zone.database.rawValue)
        self.inZone.bind(2, zone.number)
        var shares: [StoredShare] = []
        while try self.inZone.step() { shares.append(StoredShare(self.inZone, in: zone)) }
        return shares
    }

    /// The share of a whole zone.
    func zoneWideShare(of zone: ZoneKey) throws(StorageFailure) -> StoredShare? {
        self.zoneWide.bind(1, zone.database.rawValue)
        self.zoneWide.bind(2, zone.number)
        guard try self.zoneWide.step() else { return nil }
        defer { self.zoneWide.reset() }
        return StoredShare(self.zoneWide, in: zone)
    }

    func place(ofToken token: String) throws(StorageFailure) -> SharePlace? {
        try SharePlaces(place: self.place, shareOfRoot: self.shareOfRoot, ownerZone: self.ownerZone)
            .place(ofToken: token)
    }

    func user(
        _ lookup: IdentityLookup,
        in environment: EnvironmentID
    ) throws(StorageFailure) -> String? {
        try UserSearch(byName: self.byName, byContact: self.byContact).user(lookup, in: environment)
    }

    /// Records that came under shares or left them behind a position, ascending; at most `limit`.
    func membershipChanges(
        after position: Int64,
        in zone: ZoneKey,
        limit: Int,
        typeName: (Int64) throws(StorageFailure) -> String
    ) throws(StorageFailure) -> [CoverChange] {
        let statement = self.changes
        statement.bind(1, zone.database.rawValue)
        statement.bind(2, zone.number)
        statement.bind(3, position)
        statement.bind(4, Int64(limit))
        var changes: [CoverChange] = []
        while try statement.step() {
            changes.append(
                CoverChange(
                    position: statement.integer(0),
                    share: ShareNumber(rawValue: statement.integer(1)),
                    isArrival: statement.integer(2) != 0,
                    record: statement.integer(3),
                    name: statement.text(4),
                    recordType: try typeName(statement.integer(5))
                )
            )
        }
        return changes
    }
}
