import RecordModel
import StorageContract

/// Drops every record and zone of an environment.
///
/// It takes a time that depends on the number of zones alone: their contents are swept later, in
/// pieces. Databases stay, each with a new default zone and the records of its users, so that
/// connections go on. Shared databases lose their zones with the shares.
struct SchemaReset {
    let environment: EnvironmentID
    let transaction: any WriteTransaction

    func dropData() throws(StorageFailure) {
        let creation = UserRecordCreation(transaction: self.transaction, environment: self.environment)
        var databases: [DatabaseRow] = []
        try self.transaction.visit(RowRange(DatabaseRow.byOwner, self.environment)) {
            (database) throws(StorageFailure) in
            if database.scope != .shared { databases.append(database) }
        }
        var users: [String] = []
        var open: DatabaseID?
        for database in databases {
            guard database.owner != DatabaseRow.nobody else {
                try self.dropZones(of: database.number)
                open = database.number
                continue
            }
            guard let user = try self.transaction.row(UserRow.byKey, database.owner), user.kind != .deleted
            else { continue }
            try self.dropZones(of: database.number)
            users.append(user.recordName)
            try creation.addRecord(ofUser: user.recordName, to: database.number)
        }
        // No record is left that an index could lack.
        let schema = SchemaRows(environment: self.environment, rows: self.transaction)
        for type in try schema.types() {
            for field in try schema.fields(ofType: type.number).values {
                guard let index = field.index else { continue }
                try self.transaction.delete(RowRange(IndexBuildRow.byKey, index))
            }
        }
        guard let open else { return }
        for user in users { try creation.addRecord(ofUser: user, to: open) }
    }

    private func dropZones(of database: DatabaseID) throws(StorageFailure) {
        for zone in try self.transaction.rows(RowRange(ZoneRow.byKey, database)) {
            try self.transaction.removeZone(
                zone.key,
                named: zone.name,
                at: self.transaction.takePosition(in: database)
            )
        }
        try self.transaction.createZone(
            named: ZoneID.defaultZoneName,
            in: database,
            at: self.transaction.takePosition(in: database)
        )
    }
}
