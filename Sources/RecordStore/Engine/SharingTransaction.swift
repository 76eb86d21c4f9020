package import RecordModel

/// What rules about shares may do within one transaction.
package protocol SharingTransaction: AnyObject {
    /// The shares of a zone that are there, in no order.
    func shares(in zone: ZoneKey) throws(StorageFailure) -> [StoredShare]
    /// Makes a share; returns its number.
    func insertShare(
        named name: String,
        root: String?,
        in zone: ZoneKey
    ) throws(StorageFailure) -> ShareNumber
    /// Removes a share with its readers, whose tokens of the zone expire, and the one-time URLs.
    ///
    /// Each reader gets an entry in the outbox; share memberships of records go in the background.
    func deleteShare(_ share: StoredShare) throws(StorageFailure)

    /// The last part of the URL of what is shared: the same for a root, or a zone, whenever it is asked for; of a participant, that of his one-time URL.
    ///
    /// At least 120 bits of randomness. Empty participant: everybody's.
    func token(of root: String?, participant: String, in zone: ZoneKey) throws(StorageFailure) -> String
    /// Where a token leads; `nil`: nowhere.
    func place(ofToken token: String) throws(StorageFailure) -> SharePlace?

    /// Reads the share that each record belongs to, in order; `nil` where there is none.
    ///
    /// SQLite's table of share memberships is called `cover`.
    func memberships(of records: [RecordKey]) throws(StorageFailure) -> [ShareNumber?]
    /// Notes which share a record belongs to, and since which position; `nil` if to none.
    func setMembership(
        _ share: ShareNumber?,
        of record: RecordKey,
        since position: Int64
    ) throws(StorageFailure)
    /// Tells the readers of a share at a position that a record came under it or left it.
    func noteCover(
        _ change: CoverChange,
        in zone: ZoneKey,
        environment: EnvironmentID
    ) throws(StorageFailure)

    /// What a user, by his shared database, may do in a zone of somebody else.
    func sharedAccess(to zone: ZoneKey, of reader: DatabaseID) throws(StorageFailure) -> SharedAccess
    /// Lets a user read a share, or changes what they may do: their tokens of the zone expire.
    ///
    /// It writes the owner's side and an entry in the outbox for the reader's database, which follows
    /// in a transaction of its own.
    func setReader(
        _ reader: DatabaseID,
        of share: StoredShare,
        _ right: ReaderRight
    ) throws(StorageFailure)
    /// Lets a user read a share no more: their tokens of the zone expire. It writes as `setReader` does.
    func removeReader(_ reader: DatabaseID, of share: StoredShare) throws(StorageFailure)
    /// The shared database of a user; `nil`: there is no such user.
    func sharedDatabase(
        ofUser recordName: String,
        in environment: EnvironmentID
    ) throws(StorageFailure) -> DatabaseID?
    /// Whether the outbox has entries for a user's shared database.
    func hasPendingViews(of reader: DatabaseID) throws(StorageFailure) -> Bool
    /// Brings a user's shared database up to date with the entries that the outbox has for it, which go.
    ///
    /// A second time it changes nothing.
    func applyPendingViews(of reader: DatabaseID) throws(StorageFailure)
    /// Notes that there is something new for the readers of a share.
    func noteNews(of share: ShareNumber) throws(StorageFailure)

    /// Brings shared databases up to date with at most so many changes, and says whether there may be more.
    func spreadNews(max: Int) throws(StorageFailure) -> Bool

    /// The user who is known by an address, a number or a name; `nil`: nobody.
    func user(
        _ lookup: IdentityLookup,
        in environment: EnvironmentID
    ) throws(StorageFailure) -> String?
}

extension SharingTransaction {
    /// Reads the share that a record belongs to; `nil` if there is none.
    package func membership(of record: RecordKey) throws(StorageFailure) -> ShareNumber? {
        try self.memberships(of: [record])[0]
    }
}

/// Where the token of a URL leads.
package struct SharePlace: Hashable, Sendable {
    package var zone: ZoneKey
    package var zoneName: String
    package var environment: EnvironmentID
    /// User record name.
    package var ownerName: String
    /// `nil`: nothing is shared there now.
    package var share: StoredShare?
    /// The participant for whom the URL is; empty: for everybody.
    package var participant: String

    package init(
        zone: ZoneKey,
        zoneName: String,
        environment: EnvironmentID,
        ownerName: String,
        share: StoredShare?,
        participant: String
    ) {
        self.zone = zone
        self.zoneName = zoneName
        self.environment = environment
        self.ownerName = ownerName
        self.share = share
        self.participant = participant
    }
}

/// A record that came under a share, or left it.
package struct CoverChange: Hashable, Sendable {
    package var position: Int64
    package var share: ShareNumber
    package var isArrival: Bool
    package var record: Int64
    package var name: String
    package var recordType: String

    package init(
        position: Int64,
        share: ShareNumber,
        isArrival: Bool,
        record: Int64,
        name: String,
        recordType: String
    ) {
        self.position = position
        self.share = share
        self.isArrival = isArrival
        self.record = record
        self.name = name
        self.recordType = recordType
    }
}

/// With which rights somebody reads a share.
package struct ReaderRight: Hashable, Sendable {
    package var permission: SharePermission
    package var role: ShareRole

    package init(permission: SharePermission, role: ShareRole) {
        self.permission = permission
        self.role = role
    }
}
