import Foundation
import GRDB
import RecordModel
import RecordStore
import Synchronization

/// Keys of services.
extension SQLiteDirectory {
    /// Good keys of one service: enough to change one for another on many machines.
    private static let keysMax = 16

    func addServiceKey(_ key: NewServiceKey, toContainer container: String) throws(DirectoryError) {
        guard NameRules.isItemName(key.serviceName), NameRules.isUserRecordName(key.userRecordName) else {
            throw .userNameInvalid
        }
        try self.write { transaction, database in
            let container = try Self.number(ofContainer: container, database)
            let now = transaction.nowMilliseconds
            let service = try Self.service(for: key, in: container, now: now, database)
            let count = try Int.fetchOne(
                database,
                sql: "SELECT count(*) FROM service_key WHERE user = ? AND revoked_ms IS NULL",
                arguments: [service]
            )
            guard let count, count < Self.keysMax else { throw DirectoryError.tooManyKeys }
            try database.execute(
                sql: """
                    INSERT OR IGNORE INTO service_key (container, user, key_id, public_key, created_ms)
                    VALUES (?, ?, ?, ?, ?)
                    """,
                arguments: [container, service, key.keyID, Data(key.publicKey), now]
            )
            guard database.changesCount == 1 else { throw DirectoryError.keyExists }
            let number = database.lastInsertedRowID
            for name in Set(key.onBehalfOf) {
                try database.execute(
                    sql: """
                        INSERT INTO service_key_user (service_key, user)
                        SELECT ?, number FROM user WHERE container = ? AND name = ? AND kind = ?
                        """,
                    arguments: [number, container, name, UserKind.person]
                )
                guard database.changesCount == 1 else { throw DirectoryError.userMissing }
            }
        }
    }

    /// The number of the key's service, which is added when it is new.
    private static func service(
        for key: NewServiceKey,
        in container: Int64,
        now: Int64,
        _ database: Database
    ) throws -> Int64 {
        let row = try Row.fetchOne(
            database,
            sql: "SELECT number, kind FROM user WHERE container = ? AND name = ?",
            arguments: [container, key.serviceName]
        )
        if let row {
            guard row[1] == UserKind.service else { throw DirectoryError.userExists }
            return row[0]
        }
        try database.execute(
            sql: "INSERT INTO user (container, name, record_name, created_ms, kind) VALUES (?, ?, ?, ?, ?)",
            arguments: [container, key.serviceName, key.userRecordName, now, UserKind.service]
        )
        return database.lastInsertedRowID
    }

    func serviceKeys(ofContainer container: String) throws(DirectoryError) -> [DirectoryServiceKey] {
        try self.read { database in
            let container = try Self.number(ofContainer: container, database)
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT service_key.number, user.name, user.record_name, key_id, service_key.created_ms,
                        revoked_ms IS NOT NULL
                    FROM service_key JOIN user ON user.number = service_key.user
                    WHERE service_key.container = ? ORDER BY user.name, service_key.number
                    """,
                arguments: [container]
            )
            return try rows.map { row in
                DirectoryServiceKey(
                    serviceName: row[1],
                    userRecordName: row[2],
                    keyID: row[3],
                    createdMilliseconds: row[4],
                    isRevoked: row[5],
                    onBehalfOf: try String.fetchAll(
                        database,
                        sql: """
                            SELECT name FROM service_key_user JOIN user ON user.number = service_key_user.user
                            WHERE service_key = ? ORDER BY name
                            """,
                        arguments: [row[0] as Int64]
                    )
                )
            }
        }
    }

    func revokeServiceKeys(
        ofService name: String,
        keyID: String?,
        inContainer container: String
    ) throws(DirectoryError) -> Int {
        let revoked = Mutex(0)
        try self.write { transaction, database in
            let container = try Self.number(ofContainer: container, database)
            let service = try Int64.fetchOne(
                database,
                sql: "SELECT number FROM user WHERE container = ? AND name = ? AND kind = ?",
                arguments: [container, name, UserKind.service]
            )
            guard let service else { throw DirectoryError.userMissing }
            try database.execute(
                sql: """
                    UPDATE service_key SET revoked_ms = ?1
                    WHERE user = ?2 AND revoked_ms IS NULL AND (?3 IS NULL OR key_id = ?3)
                    """,
                arguments: [transaction.nowMilliseconds, service, keyID]
            )
            let count = database.changesCount
            guard count > 0 else { throw DirectoryError.keyMissing }
            revoked.withLock { $0 = count }
            try database.execute(
                sql: "UPDATE user SET \(Self.nextVersion) WHERE number = ?",
                arguments: [service]
            )
        }
        return revoked.withLock { $0 }
    }

    func publicKey(
        ofServiceKey id: String,
        inContainer container: String
    ) throws(DirectoryError) -> [UInt8]? {
        try self.read { database in
            try Data.fetchOne(
                database,
                sql: """
                    SELECT public_key FROM service_key WHERE container = ? AND key_id = ? AND revoked_ms IS NULL
                    """,
                arguments: [Self.number(ofContainer: container, database), id]
            ).map { Array($0) }
        }
    }
}
