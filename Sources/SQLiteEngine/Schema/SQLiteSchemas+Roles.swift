import GRDB
import RecordModel
import RecordStore

extension SQLiteSchemas {
    func setRole(
        _ role: String,
        ofUser user: String,
        isGiven: Bool,
        inContainer container: String,
        environment: Environment
    ) throws(SchemaStoreError) {
        try self.write { transaction, database in
            let container = try Self.number(ofContainer: container, database)
            let environment = try Self.number(of: environment, ofContainer: container, database)
            let user = try Self.number(ofUser: user, inContainer: container, database)
            let number = try Int64.fetchOne(
                database,
                sql: "SELECT number FROM role WHERE environment = ? AND name = ?",
                arguments: [environment.rawValue, role]
            )
            guard let number else { throw SchemaStoreError.roleMissing }
            try database.execute(
                sql: isGiven
                    ? "INSERT OR IGNORE INTO user_role (user, role) VALUES (?, ?)"
                    : "DELETE FROM user_role WHERE user = ? AND role = ?",
                arguments: [user, number]
            )
            transaction.caches.forgetNames()
        }
    }

    func roles(
        ofUser user: String,
        inContainer container: String,
        environment: Environment
    ) throws(SchemaStoreError) -> [String] {
        try self.read { database in
            let container = try Self.number(ofContainer: container, database)
            let environment = try Self.number(of: environment, ofContainer: container, database)
            return try String.fetchAll(
                database,
                sql: """
                    SELECT role.name FROM user_role JOIN role ON role.number = user_role.role
                    WHERE user_role.user = ? AND role.environment = ? ORDER BY role.name
                    """,
                arguments: [
                    try Self.number(ofUser: user, inContainer: container, database), environment.rawValue,
                ]
            )
        }
    }

    private static func number(
        ofUser name: String,
        inContainer container: Int64,
        _ database: Database
    ) throws -> Int64 {
        let number = try Int64.fetchOne(
            database,
            sql: "SELECT number FROM user WHERE container = ? AND name = ?",
            arguments: [container, name]
        )
        guard let number else { throw SchemaStoreError.userMissing }
        return number
    }
}
