import RecordModel
import StorageContract

/// Makes databases: a row and a default zone each.
struct DatabaseCreation {
    let rows: any TableWriter
    let environment: EnvironmentID
    let nowMilliseconds: Int64

    /// The default zone is there from the start; a position is never 0, so no other zone has its
    /// number.
    ///
    /// A reset gives the database another default zone, with a position as its number as any zone
    /// has.
    private static let defaultZoneNumber: Int64 = 0
    /// Maximum number of databases that a new one is compared with, by position.
    private static let comparedMax = 16

    /// Creates a database that is absent; returns its number in any case.
    ///
    /// Its number may be that of another which a restore took back: so it has an epoch of its own,
    /// and begins behind the last restore. That is before the positions of all databases that are
    /// there, and a few tell it.
    @discardableResult
    func create(_ scope: DatabaseScope, of owner: UserNumber) throws(StorageFailure) -> DatabaseID {
        let known = try self.rows.row(DatabaseRow.byOwner, self.environment, scope, owner)
        if let known { return known.number }
        let some = try self.rows.rows(RowRange(DatabaseRow.byKey), limit: Self.comparedMax)
        // A shared database only has zones of other users.
        let hasZone = scope != .shared
        let row = DatabaseRow(
            environment: self.environment,
            scope: scope,
            owner: owner,
            position: some.map(\.position).min() ?? 0,
            epoch: DatabaseEpoch.fresh(nowMilliseconds: self.nowMilliseconds),
            stored: StoredAmount(
                records: 0,
                recordBytes: 0,
                assets: 0,
                assetBytes: 0,
                rowBytes: hasZone ? Int64(RowBytes.zone(named: ZoneID.defaultZoneName)) : 0
            )
        )
        let database = DatabaseID(rawValue: try self.rows.insert(row))
        if hasZone {
            let zone = ZoneID.defaultZoneName
            try self.rows.put(ZoneRow(database: database, name: zone, number: Self.defaultZoneNumber))
        }
        return database
    }
}

/// Gives databases the records of users.
struct UserRecordCreation {
    let transaction: any WriteTransaction
    let environment: EnvironmentID

    /// Gives a user who signs in for the first time a private and a shared database, and a user
    /// record in the former and the public one.
    func welcome(
        _ user: UserNumber,
        named recordName: String,
        publicDatabase: DatabaseID
    ) throws(StorageFailure) {
        let creation = DatabaseCreation(
            rows: self.transaction,
            environment: self.environment,
            nowMilliseconds: self.transaction.nowMilliseconds
        )
        let own = try creation.create(.private, of: user)
        try creation.create(.shared, of: user)
        for database in [own, publicDatabase] { try self.addRecord(ofUser: recordName, to: database) }
    }

    /// Gives a database the record of a user that it does not have yet.
    func addRecord(ofUser recordName: String, to database: DatabaseID) throws(StorageFailure) {
        guard let zone = try self.transaction.zone(named: ZoneID.defaultZoneName, in: database),
            try self.transaction.record(named: recordName, in: zone) == nil
        else { return }
        let now = self.transaction.nowMilliseconds
        let record = StoredRecord(
            number: 0,
            recordType: UserRecord.type,
            position: try self.transaction.takePosition(in: database),
            system: SystemFields(
                createdMilliseconds: now,
                modifiedMilliseconds: now,
                createdBy: recordName,
                modifiedBy: recordName
            ),
            parent: nil,
            body: .empty
        )
        var writes = RecordWrites()
        writes.saves = [RecordWrites.Save(name: recordName, record: record, existing: nil)]
        try self.transaction.apply(writes, to: zone, in: self.environment)
    }
}
