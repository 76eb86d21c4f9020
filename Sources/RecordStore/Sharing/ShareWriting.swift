import RecordModel
import StorageContract

/// The rows of shares, which follow from what their records say.
extension WriteTransaction {
    /// Gives the shares of a zone, and reads them if they are not known.
    func rememberedShares(in zone: ZoneKey) throws(StorageFailure) -> ZoneShares {
        if let known = self.knowledge.shares[zone] { return known }
        let shares = ZoneShares(try self.shares(in: zone))
        self.knowledge.shares[zone] = shares
        return shares
    }

    /// Makes a share.
    func insertShare(
        named name: String,
        root: String?,
        in zone: ZoneKey
    ) throws(StorageFailure) -> StoredShare {
        var share = StoredShare(number: ShareNumber(rawValue: 0), zone: zone, name: name, root: root)
        share.number = ShareNumber(rawValue: try self.insert(ShareRow(share)))
        self.count(rowBytes: RowBytes.share(named: name), in: zone)
        self.knowledge.shares[zone]?.insert(share)
        return share
    }

    /// Removes a share with its readers and one-time URLs; the readers' tokens of the zone expire.
    ///
    /// Each reader gets an entry in the outbox. Share memberships of records go in the background.
    ///
    /// - Returns: The number of participants who had joined it.
    @discardableResult
    func deleteShare(_ share: StoredShare) throws(StorageFailure) -> Int {
        let zone = share.zone
        let position = try self.takePosition(in: zone.database)
        let range = RowRange(ShareReaderRow.byShare, share.number)
        let readers = try self.rows(range).map(\.reader)
        try self.delete(range)
        for reader in readers {
            try self.put(ViewRefreshRow(reader: reader, zone: zone, origin: nil))
            try self.expireTokens(of: reader, in: zone, through: position)
        }
        try self.forgetOneTimeTokens(of: share.root ?? "", in: zone)
        try self.delete(ShareNewsRow(share: share.number, origin: nil))
        try self.delete(ShareRow(share))
        try self.put(ShareRemovalRow(share: share.number))
        self.count(rowBytes: -RowBytes.share(named: share.name), in: zone)
        self.knowledge.shares[zone]?.remove(share)
        self.knowledge.sharesWithChanges[share.number] = nil
        return readers.count
    }

    /// Lets a user read a share, or changes what they may do: their tokens of the zone expire.
    ///
    /// It writes the owner's side and an entry in the outbox for the reader's database, which
    /// follows in a transaction of its own.
    func setReader(
        _ reader: DatabaseID,
        of share: StoredShare,
        _ right: ReaderRight
    ) throws(StorageFailure) {
        try self.put(
            ShareReaderRow(
                reader: reader,
                share: share.number,
                permission: right.permission,
                role: right.role
            )
        )
        try self.rightsChanged(of: reader, in: share.zone)
    }

    /// Lets a user read a share no more: their tokens of the zone expire.
    ///
    /// It writes as `setReader` does.
    func removeReader(_ reader: DatabaseID, of share: StoredShare) throws(StorageFailure) {
        try self.delete(RowRange(ShareReaderRow.byKey, reader, share.number))
        try self.rightsChanged(of: reader, in: share.zone)
    }

    /// Notes that the reader may know too much or too little of the zone: their tokens are no good
    /// from this transaction on, and their row of the zone is brought up to date later.
    private func rightsChanged(of reader: DatabaseID, in zone: ZoneKey) throws(StorageFailure) {
        // No token has this position yet.
        let position = try self.takePosition(in: zone.database)
        try self.expireTokens(of: reader, in: zone, through: position)
        let known = try self.row(ViewRefreshRow.byKey, reader, zone.database, zone.number)
        let isOthersToo = known.map { $0.origin != self.origin?.bytes } ?? false
        try self.put(ViewRefreshRow(reader: reader, zone: zone, origin: isOthersToo ? nil : self.origin))
    }

    /// Expires the tokens that a reader has of a zone.
    ///
    /// Nothing is kept of a reader who reads nothing there any more. If they join again, their
    /// tokens expire again.
    private func expireTokens(
        of reader: DatabaseID,
        in zone: ZoneKey,
        through position: Int64
    ) throws(StorageFailure) {
        let row = TokenExpiryRow(zone: zone, reader: reader, through: position)
        if try self.joined(in: zone, by: reader).isEmpty {
            try self.delete(row)
        } else {
            try self.put(row)
        }
    }
}

/// The rights with which a user reads a share.
struct ReaderRight: Hashable {
    var permission: SharePermission
    var role: ShareRole
}
