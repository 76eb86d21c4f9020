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

    private func find(
        container: String,
        environment: Environment,
        tokenHash: [UInt8]?
    ) throws(DirectoryError) -> (signIn: SignIn, user: DatabaseRows.User?) {
        try self.read { database in
            let row = try Row.fetchOne(
                database,
                sql: """
                    SELECT environment.number, open.number, user.number, user.record_name, own.number
                    FROM container
                    JOIN environment ON environment.container = container.number AND environment.kind = ?2
                    JOIN database AS open
                        ON open.environment = environment.number AND open.scope = 1 AND open.owner = 0
                    LEFT JOIN user ON user.container = container.number AND user.token_hash = ?3
                    LEFT JOIN database AS own
                        ON own.environment = environment.number AND own.scope = 2 AND own.owner = user.number
                    WHERE container.identifier = ?1
                    """,
                arguments: [container, Int64(environment.rawValue), tokenHash.map { Data($0) }]
            )
            guard let row else { throw DirectoryError.containerMissing }
            let number: Int64? = row[2]
            if tokenHash != nil, number == nil { throw DirectoryError.tokenUnknown }
            let own: Int64? = row[4]
            let signIn = SignIn(
                environment: EnvironmentID(rawValue: row[0]),
                publicDatabase: DatabaseID(rawValue: row[1]),
                privateDatabase: own.map { DatabaseID(rawValue: $0) },
                userRecordName: row[3]
            )
            return (signIn, number.map { DatabaseRows.User(number: $0, recordName: row[3]) })
        }
    }
}
