package import RecordModel
package import StorageContract

/// The target of a URL's token.
package struct ShareTarget: Hashable, Sendable {
    package var zone: ZoneKey
    package var zoneName: String
    package var environment: EnvironmentID
    /// User record name.
    package var ownerName: String
    /// `nil` if nothing is shared there now.
    package var share: StoredShare?
    /// The participant for whom the URL is; empty if it is for every user.
    package var participant: String
}

extension ShareTarget {
    /// The ID that a record of the zone has for a user.
    package func recordID(named name: String, for user: String) -> RecordID {
        let owner = self.ownerName == user ? "" : self.ownerName
        return RecordID(zone: ZoneID(zoneName: self.zoneName, ownerName: owner), recordName: name)
    }
}

extension TableReader {
    /// Finds where the token of a URL leads; `nil` if nowhere.
    ///
    /// `sharesOf` reads the shares of a zone, or has them from other tokens.
    func target(
        ofToken token: String,
        _ sharesOf: (ZoneKey) throws(StorageFailure) -> ZoneShares
    ) throws(StorageFailure) -> ShareTarget? {
        guard let row = try self.row(ShareTokenRow.byKey, token),
            let owner = try self.owner(of: row.zoneKey)
        else { return nil }
        let shares = try sharesOf(row.zoneKey)
        return ShareTarget(
            zone: row.zoneKey,
            zoneName: owner.zoneName,
            environment: owner.environment,
            ownerName: owner.userRecordName,
            share: row.root.isEmpty ? shares.zoneWide : shares.share(ofRoot: row.root),
            participant: row.participant
        )
    }

    /// Reads the name of a zone and its owner; `nil` if the zone is gone.
    func owner(of zone: ZoneKey) throws(StorageFailure) -> ZoneOwner? {
        guard let row = try self.row(ZoneRow.byNumber, zone.database, zone.number),
            let database = try self.row(DatabaseRow.byKey, zone.database),
            let user = try self.row(UserRow.byKey, database.owner)
        else { return nil }
        return ZoneOwner(
            zoneName: row.name,
            userRecordName: user.recordName,
            environment: database.environment
        )
    }
}

/// A zone by names.
struct ZoneOwner: Hashable {
    let zoneName: String
    let userRecordName: String
    let environment: EnvironmentID
}
