import GRDBSQLite
import RecordModel
import RecordStore

/// Shares, their readers and what they cover.
extension WriterTransaction {
    func shares(in zone: ZoneKey) throws(StorageFailure) -> [StoredShare] {
        if let known = self.caches.shares[zone] { return known }
        let statement = self.statements.shares.inZone
        statement.bind(1, zone.database.rawValue)
        statement.bind(2, zone.number)
        var shares: [StoredShare] = []
        while try statement.step() { shares.append(StoredShare(statement, in: zone)) }
        self.caches.shares[zone] = shares
        return shares
    }

    func insertShare(
        named name: String,
        root: String?,
        in zone: ZoneKey
    ) throws(StorageFailure) -> ShareNumber {
        let statement = self.statements.shares.insert
        statement.bind(1, zone.database.rawValue)
        statement.bind(2, zone.number)
        statement.bind(3, name)
        statement.bind(4, root)
        try statement.run()
        self.changes.count(rowBytes: RowBytes.share(named: name), in: zone)
        self.caches.shares[zone] = nil
        return ShareNumber(rawValue: statement.lastInsertedNumber)
    }

    func deleteShare(_ share: StoredShare) throws(StorageFailure) {
        let statements = self.statements.shares
        let expire = self.statements.views.expireReaders
        expire.bind(1, share.number.rawValue)
        expire.bind(2, share.zone.database.rawValue)
        expire.bind(3, share.zone.number)
        expire.bind(4, try self.takePosition(in: share.zone.database))
        try expire.run()
        try self.deleteTokens(statements.deleteOneTimeTokens, of: share.root ?? "", in: share.zone)
        statements.refreshReaders.bind(1, share.number.rawValue)
        statements.refreshReaders.bind(2, share.zone.database.rawValue)
        statements.refreshReaders.bind(3, share.zone.number)
        try statements.refreshReaders.run()
        let all = [
            statements.removeReaders, self.statements.views.deleteNews, statements.delete,
            statements.insertRemoval,
        ]
        for statement in all {
            statement.bind(1, share.number.rawValue)
            try statement.run()
        }
        try self.forgetExpiry(in: share.zone, of: nil)
        self.changes.count(rowBytes: -RowBytes.share(named: share.name), in: share.zone)
        self.caches.shares[share.zone] = nil
        self.caches.sharesWithNews[share.number] = nil
        self.wantViewWork()
        self.mayHaveSweepWork = true
    }

    // MARK: Tokens

    func token(
        of root: String?,
        participant: String,
        in zone: ZoneKey
    ) throws(StorageFailure) -> String {
        let find = self.statements.shares.token
        find.bind(1, zone.database.rawValue)
        find.bind(2, zone.number)
        find.bind(3, root ?? "")
        find.bind(4, participant)
        if try find.step() {
            defer { find.reset() }
            return find.text(0)
        }
        let token = ShareToken.make()
        let insert = self.statements.shares.insertToken
        insert.bind(1, zone.database.rawValue)
        insert.bind(2, zone.number)
        insert.bind(3, root ?? "")
        insert.bind(4, participant)
        insert.bind(5, token)
        try insert.run()
        self.changes.count(rowBytes: RowBytes.shareToken(of: root ?? ""), in: zone)
        self.caches.zonesWithTokens[zone] = true
        return token
    }

    /// Forgets the URLs of a record that is gone.
    func forgetTokens(of root: String, in zone: ZoneKey) throws(StorageFailure) {
        let hasAny: Bool
        if let known = self.caches.zonesWithTokens[zone] {
            hasAny = known
        } else {
            let statement = self.statements.shares.hasTokens
            statement.bind(1, zone.database.rawValue)
            statement.bind(2, zone.number)
            _ = try statement.step()
            hasAny = statement.integer(0) != 0
            statement.reset()
            self.caches.zonesWithTokens[zone] = hasAny
        }
        if hasAny { try self.deleteTokens(self.statements.shares.deleteTokens, of: root, in: zone) }
    }

    private func deleteTokens(
        _ statement: HotStatement,
        of root: String,
        in zone: ZoneKey
    ) throws(StorageFailure) {
        statement.bind(1, zone.database.rawValue)
        statement.bind(2, zone.number)
        statement.bind(3, root)
        try statement.run()
        let count = statement.changesCount
        if count > 0 { self.changes.count(rowBytes: -count * RowBytes.shareToken(of: root), in: zone) }
    }

    func place(ofToken token: String) throws(StorageFailure) -> SharePlace? {
        let statements = self.statements.shares
        return try SharePlaces(
            place: statements.place,
            shareOfRoot: statements.shareOfRoot,
            ownerZone: statements.ownerZone
        ).place(ofToken: token)
    }

    // MARK: Memberships

    /// The number of a record is unique in the file, and the key of table `cover`.
    func memberships(of records: [RecordKey]) throws(StorageFailure) -> [ShareNumber?] {
        let statement = self.statements.shares.cover
        var shares: [ShareNumber?] = []
        shares.reserveCapacity(records.count)
        for record in records {
            statement.bind(1, record.number)
            guard try statement.step() else {
                shares.append(nil)
                continue
            }
            defer { statement.reset() }
            shares.append(ShareNumber(rawValue: statement.integer(0)))
        }
        return shares
    }

    func setMembership(
        _ share: ShareNumber?,
        of record: RecordKey,
        since position: Int64
    ) throws(StorageFailure) {
        self.workDone += 1
        let statements = self.statements.shares
        let statement = share == nil ? statements.deleteCover : statements.setCover
        statement.bind(1, record.number)
        if let share {
            statement.bind(2, share.rawValue)
            statement.bind(3, position)
        }
        try statement.run()
    }

    func noteCover(
        _ change: CoverChange,
        in zone: ZoneKey,
        environment: EnvironmentID
    ) throws(StorageFailure) {
        self.workDone += 2
        let statement = self.statements.shares.insertChange
        statement.bind(1, zone.database.rawValue)
        statement.bind(2, zone.number)
        statement.bind(3, change.position)
        statement.bind(4, change.share.rawValue)
        statement.bind(5, change.isArrival ? 1 : 0)
        statement.bind(6, change.record)
        statement.bind(7, change.name)
        statement.bind(8, try self.typeNumber(change.recordType, in: environment))
        try statement.run()
        self.changes.count(rowBytes: RowBytes.coverChange(named: change.name), in: zone)
        self.changes.move(to: change.position, in: zone)
    }

    // MARK: Readers

    func sharedAccess(to zone: ZoneKey, of reader: DatabaseID) throws(StorageFailure) -> SharedAccess {
        try ShareGrants(statement: self.statements.shares.grants, expired: self.statements.shares.expired)
            .access(to: zone, of: reader)
    }

    func setReader(
        _ reader: DatabaseID,
        of share: StoredShare,
        _ right: ReaderRight
    ) throws(StorageFailure) {
        let statement = self.statements.shares.setReader
        statement.bind(1, reader.rawValue)
        statement.bind(2, share.number.rawValue)
        statement.bind(3, Int64(right.permission.rawValue))
        statement.bind(4, Int64(right.role.rawValue))
        try statement.run()
        try self.wantRefresh(of: share.zone, for: reader)
    }

    func removeReader(_ reader: DatabaseID, of share: StoredShare) throws(StorageFailure) {
        let statement = self.statements.shares.removeReader
        statement.bind(1, reader.rawValue)
        statement.bind(2, share.number.rawValue)
        try statement.run()
        try self.wantRefresh(of: share.zone, for: reader)
        try self.forgetExpiry(in: share.zone, of: reader)
    }

    /// Forgets which tokens are expired of a reader, or of all, where they read nothing any more.
    ///
    /// Whoever joins again has theirs expired again.
    private func forgetExpiry(in zone: ZoneKey, of reader: DatabaseID?) throws(StorageFailure) {
        let statement = self.statements.views.forgetExpiry
        statement.bind(1, zone.database.rawValue)
        statement.bind(2, zone.number)
        statement.bind(3, reader?.rawValue)
        try statement.run()
    }

    /// What he knew of the zone may be too much or too little: his tokens are no good from this transaction on, his row is brought up to date later.
    private func wantRefresh(of zone: ZoneKey, for reader: DatabaseID) throws(StorageFailure) {
        // No token has this position yet.
        let expire = self.statements.views.expire
        expire.bind(1, zone.database.rawValue)
        expire.bind(2, zone.number)
        expire.bind(3, reader.rawValue)
        expire.bind(4, try self.takePosition(in: zone.database))
        try expire.run()
        let statement = self.statements.views.insertRefresh
        statement.bind(1, reader.rawValue)
        statement.bind(2, zone.database.rawValue)
        statement.bind(3, zone.number)
        statement.bind(4, self.report.origin?.bytes)
        try statement.run()
        self.wantViewWork()
    }

    func sharedDatabase(
        ofUser recordName: String,
        in environment: EnvironmentID
    ) throws(StorageFailure) -> DatabaseID? {
        let statement = self.statements.shares.reader
        statement.bind(1, recordName)
        statement.bind(2, environment.rawValue)
        guard try statement.step() else { return nil }
        defer { statement.reset() }
        return DatabaseID(rawValue: statement.integer(0))
    }

    func user(
        _ lookup: IdentityLookup,
        in environment: EnvironmentID
    ) throws(StorageFailure) -> String? {
        let statements = self.statements.shares
        return try UserSearch(byName: statements.recordNameUser, byContact: statements.contactUser)
            .user(lookup, in: environment)
    }

    func noteNews(of share: ShareNumber) throws(StorageFailure) {
        guard self.caches.sharesWithNews[share] != .some(self.report.origin) else { return }
        let statement = self.statements.views.insertNews
        statement.bind(1, share.rawValue)
        statement.bind(2, self.report.origin?.bytes)
        try statement.run()
        self.caches.sharesWithNews.updateValue(self.report.origin, forKey: share)
        self.wantViewWork()
    }
}

/// The random part of a URL: 22 letters and digits, 130 bits.
enum ShareToken {
    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")

    static func make() -> String { String((0..<22).map { _ in self.letters.randomElement()! }) }
}

extension StoredShare {
    /// From a row that begins with number, name and root.
    init(_ statement: HotStatement, in zone: ZoneKey) {
        self.init(
            number: ShareNumber(rawValue: statement.integer(0)),
            zone: zone,
            name: statement.text(1),
            root: statement.isNull(2) ? nil : statement.text(2)
        )
    }
}
