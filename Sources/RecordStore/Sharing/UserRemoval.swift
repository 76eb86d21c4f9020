import RecordModel
package import StorageContract

/// Removes the data of a deleted user from databases of other users: no request may ask for it.
package struct UserRemoval {
    let transaction: any WriteTransaction
    let environment: EnvironmentID
    let userRecordName: String

    package init(
        transaction: any WriteTransaction,
        environment: EnvironmentID,
        userRecordName: String
    ) {
        self.transaction = transaction
        self.environment = environment
        self.userRecordName = userRecordName
    }

    /// Takes the user out of all shares of a zone that they have joined; the owner sees them go.
    package func leave(
        _ zone: ZoneKey,
        named name: String,
        joinedBy sharedDatabase: DatabaseID
    ) throws(StorageFailure) {
        let rewriting = RecordRewriting(
            transaction: self.transaction,
            requester: Requester(
                database: sharedDatabase,
                scope: .shared,
                environment: self.environment,
                userRecordName: self.userRecordName
            ),
            zone: zone,
            zoneName: name
        )
        let access = try self.transaction.sharedAccess(to: zone, of: sharedDatabase)
        for grant in access.shares { try rewriting.leave(grant.share) }
    }

    /// Deletes the user's own record in a database, if it exists.
    ///
    /// Its index entries and its references go along.
    package func deleteUserRecord(in database: DatabaseID) throws(StorageFailure) {
        let name = self.userRecordName
        guard let zone = try self.transaction.zone(named: ZoneID.defaultZoneName, in: database),
            let record = try self.transaction.record(named: name, in: zone)
        else { return }
        let position = try self.transaction.takePosition(in: database)
        let definitions = try self.transaction.fields(ofType: record.recordType, in: self.environment)
        var writes = RecordWrites()
        writes.deletes = [
            RecordWrites.Delete(
                name: name,
                record: record,
                position: position,
                entries: IndexChanges(from: record, to: nil, named: name, definitions: definitions),
                targets: References(body: record.body, parent: record.parent).targets,
                coveredBy: nil
            )
        ]
        try self.transaction.apply(writes, to: zone, in: self.environment)
        try self.transaction.removeUses(by: RecordKey(zone: zone, number: record.number))
        guard self.transaction.isWatched(database) else { return }
        let change = CommittedRecord(
            zone: ZoneID.defaultZoneName,
            name: name,
            before: record,
            after: nil,
            definitions: definitions
        )
        self.transaction.note(.record(change), at: position, in: database)
    }
}
