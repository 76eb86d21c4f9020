import Foundation
import GRDB
import RecordModel
import RecordStore

extension SQLiteDirectory {
    func signIn(
        container: String,
        environment: Environment,
        tokenHash: [UInt8]?
    ) throws(DirectoryError) -> SignIn {
        let found = try self.find(container: container, environment: environment, tokenHash: tokenHash)
        guard let user = found.user, found.signIn.privateDatabase == nil else { return found.signIn }
        let signIn = found.signIn
        try self.write { transaction, database in
            try DatabaseRows.welcome(user, signIn, transaction, database)
        }
        return try self.find(container: container, environment: environment, tokenHash: tokenHash).signIn
    }

    func account(
        named user: String?,
        ofContainer container: String,
        environment: Environment
    ) throws(DirectoryError) -> SignIn {
        guard let user else {
            return try self.find(container: container, environment: environment, tokenHash: nil).signIn
        }
        return try self.read { database in
            let open = try self.row(container, environment, "name", user, database)
            guard open[2] as Int64? != nil else { throw DirectoryError.userMissing }
            return Self.signIn(open)
        }
    }

    private func find(
        container: String,
        environment: Environment,
        tokenHash: [UInt8]?
    ) throws(DirectoryError) -> (signIn: SignIn, user: DatabaseRows.User?) {
        try self.read { database in
            let row = try self.row(
                container,
                environment,
                "token_hash",
                tokenHash.map { Data($0) },
                database
            )
            let number: Int64? = row[2]
            if tokenHash != nil, number == nil { throw DirectoryError.tokenUnknown }
            return (Self.signIn(row), number.map { DatabaseRows.User(number: $0, recordName: row[3]) })
        }
    }

    /// Environment, public database, and the user with this value in a column, if there is one: number, record name, private database.
    private func row(
        _ container: String,
        _ environment: Environment,
        _ column: String,
        _ value: (any DatabaseValueConvertible)?,
        _ database: Database
    ) throws -> Row {
        let row = try Row.fetchOne(
            database,
            sql: """
                SELECT environment.number, open.number, user.number, user.record_name, own.number
                FROM container
                JOIN environment ON environment.container = container.number AND environment.kind = ?2
                JOIN database AS open
                    ON open.environment = environment.number AND open.scope = 1 AND open.owner = 0
                LEFT JOIN user ON user.container = container.number AND user.\(column) = ?3
                LEFT JOIN database AS own
                    ON own.environment = environment.number AND own.scope = 2 AND own.owner = user.number
                WHERE container.identifier = ?1
                """,
            arguments: [container, Int64(environment.rawValue), value]
        )
        guard let row else { throw DirectoryError.containerMissing }
        return row
    }

    private static func signIn(_ row: Row) -> SignIn {
        let own: Int64? = row[4]
        return SignIn(
            environment: EnvironmentID(rawValue: row[0]),
            publicDatabase: DatabaseID(rawValue: row[1]),
            privateDatabase: own.map { DatabaseID(rawValue: $0) },
            userRecordName: row[3]
        )
    }
}
