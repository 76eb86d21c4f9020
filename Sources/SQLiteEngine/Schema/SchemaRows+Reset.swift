import GRDB
import RecordModel
import RecordStore

extension SchemaRows {
    /// Drops every record and zone of the environment.
    ///
    /// In time that depends on the number of zones alone: their contents are swept later, in pieces. Databases stay, each
    /// with a new default zone and the records of its users, so that connections go on. Shared databases lose their zones with the shares.
    func dropData(_ transaction: WriterTransaction) throws {
        let databases = try Row.fetchAll(
            self.database,
            sql: """
                SELECT database.number, user.record_name FROM database
                LEFT JOIN user ON user.number = database.owner
                WHERE database.environment = ? AND database.scope != 3 AND coalesce(user.kind, 0) != ?
                """,
            arguments: [self.environment.rawValue, SQLiteDirectory.UserKind.deleted]
        )
        var users: [String] = []
        var open: DatabaseID?
        for row in databases {
            let database = DatabaseID(rawValue: row[0])
            try self.dropZones(of: database, transaction)
            if let user: String = row[1] {
                users.append(user)
                try DatabaseRows.addUserRecord(user, to: database, of: self.environment, transaction)
            } else {
                open = database
            }
        }
        // No record is left that an index could lack.
        try self.database.execute(
            sql: """
                DELETE FROM index_build WHERE index_number IN (
                    SELECT field.index_number FROM record_type
                    JOIN field ON field.record_type = record_type.number WHERE record_type.environment = ?)
                """,
            arguments: [self.environment.rawValue]
        )
        guard let open else { return }
        for user in users {
            try DatabaseRows.addUserRecord(user, to: open, of: self.environment, transaction)
        }
    }

    private func dropZones(of database: DatabaseID, _ transaction: WriterTransaction) throws {
        let zones = try Row.fetchAll(
            self.database,
            sql: "SELECT name, number FROM zone WHERE database = ?",
            arguments: [database.rawValue]
        )
        for zone in zones {
            try transaction.deleteZone(
                ZoneKey(database: database, number: zone[1]),
                named: zone[0],
                at: transaction.takePosition(in: database)
            )
        }
        _ = try transaction.createZone(
            named: ZoneID.defaultZoneName,
            in: database,
            at: transaction.takePosition(in: database)
        )
    }
}
