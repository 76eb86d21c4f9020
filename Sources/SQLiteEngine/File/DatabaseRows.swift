import GRDB
import RecordModel
import RecordStore

/// Makes databases: a row and a default zone each.
enum DatabaseRows {
    struct User: Sendable {
        let number: Int64
        let recordName: String
    }

    /// The default zone is there from the start; a position is never 0, so no other zone has its number.
    ///
    /// A reset gives the database another default zone, with a position as its number as any zone has.
    private static let defaultZoneNumber: Int64 = 0

    /// Creates a database that is absent.
    ///
    /// Its number may be that of another which a restore took back: so it has an epoch of its own, and begins behind the
    /// last restore. That is before the positions of all databases that are there, and a few tell it.
    ///
    /// Returns its number in any case.
    @discardableResult
    static func create(
        scope: DatabaseScope,
        owner: Int64,
        in environment: EnvironmentID,
        nowMilliseconds now: Int64,
        _ database: Database
    ) throws -> DatabaseID {
        let key: StatementArguments = [environment.rawValue, Int64(scope.rawValue), owner]
        let known = try Int64.fetchOne(
            database,
            sql: "SELECT number FROM database WHERE environment = ? AND scope = ? AND owner = ?",
            arguments: key
        )
        if let known { return DatabaseID(rawValue: known) }
        try database.execute(
            sql: """
                INSERT INTO database (environment, scope, owner, epoch, row_bytes, position) VALUES (?, ?, ?, ?, ?, (
                    SELECT coalesce(min(position), 0) FROM (SELECT position FROM database ORDER BY number LIMIT 16)))
                """,
            arguments: key + [
                DatabaseEpoch.fresh(nowMilliseconds: now),
                scope == .shared ? 0 : RowBytes.zone(named: ZoneID.defaultZoneName),
            ]
        )
        let number = database.lastInsertedRowID
        // Its zones are those of others.
        guard scope != .shared else { return DatabaseID(rawValue: number) }
        try database.execute(
            sql: "INSERT INTO zone (database, name, number) VALUES (?, ?, ?)",
            arguments: [number, ZoneID.defaultZoneName, self.defaultZoneNumber]
        )
        return DatabaseID(rawValue: number)
    }

    /// Gives a user who signs in for the first time a private and a shared database, and a user record in the former and the public one.
    static func welcome(
        _ user: User,
        _ signIn: SignIn,
        _ transaction: WriterTransaction,
        _ database: Database
    ) throws {
        func create(_ scope: DatabaseScope) throws -> DatabaseID {
            try self.create(
                scope: scope,
                owner: user.number,
                in: signIn.environment,
                nowMilliseconds: transaction.nowMilliseconds,
                database
            )
        }
        let own = try create(.private)
        _ = try create(.shared)
        for number in [own, signIn.publicDatabase] {
            try self.addUserRecord(user.recordName, to: number, of: signIn.environment, transaction)
        }
    }

    /// Gives a database the record of a user that it does not have yet.
    static func addUserRecord(
        _ recordName: String,
        to database: DatabaseID,
        of environment: EnvironmentID,
        _ transaction: WriterTransaction
    ) throws(StorageFailure) {
        guard let zone = try transaction.zone(named: ZoneID.defaultZoneName, in: database),
            try transaction.record(named: recordName, in: zone) == nil
        else { return }
        let now = transaction.nowMilliseconds
        let record = StoredRecord(
            number: 0,
            recordType: UserRecord.type,
            position: try transaction.takePosition(in: database),
            system: SystemFields(
                createdMilliseconds: now,
                modifiedMilliseconds: now,
                createdBy: recordName,
                modifiedBy: recordName
            ),
            parent: nil,
            body: .empty
        )
        _ = try transaction.insert(record, named: recordName, in: zone, environment: environment)
    }
}
