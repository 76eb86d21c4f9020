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
    private static let defaultZoneNumber: Int64 = 0

    /// Creates a database that is absent.
    ///
    /// Returns its number in any case.
    @discardableResult
    static func create(
        scope: DatabaseScope,
        owner: Int64,
        in environment: EnvironmentID,
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
            sql: "INSERT INTO database (environment, scope, owner) VALUES (?, ?, ?)",
            arguments: key
        )
        let number = database.lastInsertedRowID
        try database.execute(
            sql: "INSERT INTO zone (database, name, number) VALUES (?, ?, ?)",
            arguments: [number, ZoneID.defaultZoneName, self.defaultZoneNumber]
        )
        return DatabaseID(rawValue: number)
    }

    /// Gives a user who signs in for the first time a private database, and a user record there and in the public one.
    static func welcome(
        _ user: User,
        _ signIn: SignIn,
        _ transaction: WriterTransaction,
        _ database: Database
    ) throws {
        let own = try self.create(
            scope: .private,
            owner: user.number,
            in: signIn.environment,
            database
        )
        for number in [own, signIn.publicDatabase] {
            let zone = ZoneKey(database: number, number: self.defaultZoneNumber)
            guard try transaction.record(named: user.recordName, in: zone) == nil else { continue }
            let now = transaction.nowMilliseconds
            let record = StoredRecord(
                number: 0,
                recordType: UserRecord.type,
                position: try transaction.takePosition(in: number),
                system: SystemFields(
                    createdMilliseconds: now,
                    modifiedMilliseconds: now,
                    createdBy: user.recordName,
                    modifiedBy: user.recordName
                ),
                parent: nil,
                body: .empty
            )
            _ = try transaction.insert(
                record,
                named: user.recordName,
                in: zone,
                environment: signIn.environment
            )
        }
    }
}
