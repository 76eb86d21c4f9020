import RecordModel
import StorageContract

/// Reads of shares, in a snapshot or in a transaction.
extension TableReader {
    /// Reads the shares of a zone, in no order.
    func shares(in zone: ZoneKey) throws(StorageFailure) -> [StoredShare] {
        try self.rows(RowRange(ShareRow.byName, zone.database, zone.number)).map(\.stored)
    }

    /// Reads the shares of zones as a whole, in their order.
    func zoneWideShares(of zones: [ZoneKey]) throws(StorageFailure) -> [StoredShare?] {
        let keys = zones.map { ShareRow.byName.key($0.database, $0.number, ShareRecord.zoneWideName) }
        return try self.rows(ShareRow.byName, keys: keys).map { $0?.stored }
    }

    /// Reads the rights of a user, given by their shared database, in another user's zone.
    func sharedAccess(to zone: ZoneKey, of reader: DatabaseID) throws(StorageFailure) -> SharedAccess {
        SharedAccess(try self.joined(in: zone, by: reader))
    }

    /// Reads the shares of a zone that a user has joined, those without any right included.
    ///
    /// A zone may have many shares, and a user may have joined many. So the shares of the zone are
    /// read if they are few; else those of the user are.
    func joined(in zone: ZoneKey, by reader: DatabaseID) throws(StorageFailure) -> [ShareGrant] {
        let range = RowRange(ShareRow.byName, zone.database, zone.number)
        let shares = try self.rows(range, limit: SharedAccess.sharesReadMax + 1)
        guard !shares.isEmpty else { return [] }
        if shares.count <= SharedAccess.sharesReadMax {
            let keys = shares.map { ShareReaderRow.byKey.key(reader, $0.number) }
            let rows = try self.rows(ShareReaderRow.byKey, keys: keys)
            return zip(shares, rows).compactMap { share, row in row?.grant(of: share) }
        }
        let rows = try self.rows(RowRange(ShareReaderRow.byKey, reader))
        let joined = try self.rows(ShareRow.byKey, keys: rows.map(\.share))
        return zip(joined, rows).compactMap { share, row in
            share.flatMap { $0.zoneKey == zone ? row.grant(of: $0) : nil }
        }
    }

    /// Reads up to which position the tokens have expired that a reader has of a zone; 0 if none
    /// has.
    ///
    /// A change of what a reader may do expires their tokens in the same transaction. So no feed
    /// begins before the reader had the rights that they have.
    func tokensExpiredThrough(in zone: ZoneKey, of reader: DatabaseID) throws(StorageFailure) -> Int64 {
        try self.row(TokenExpiryRow.byKey, zone.database, zone.number, reader)?.through ?? 0
    }
}

extension SharedAccess {
    /// The first read of a zone's shares.
    static func firstRead(in zone: ZoneKey) -> SnapshotRead {
        .range(RowRange(ShareRow.byName, zone.database, zone.number), limit: self.sharesReadMax + 1)
    }
}

extension ShareReaderRow {
    fileprivate func grant(of share: ShareRow) -> ShareGrant {
        ShareGrant(share: share.stored, permission: self.permission, role: self.role)
    }
}
