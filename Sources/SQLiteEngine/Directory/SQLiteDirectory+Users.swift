import Foundation
import GRDB
import RecordModel
import RecordStore

/// Users and their tokens.
extension SQLiteDirectory {
    /// What `user.kind` says.
    enum UserKind {
        static let person: Int64 = 0
        static let service: Int64 = 1
        /// Nobody any more: the row keeps its number from being used again.
        static let deleted: Int64 = 2
    }

    /// In an UPDATE of the table: those who watch look at this user again.
    static let nextVersion = "credential_version = (SELECT max(credential_version) + 1 FROM user)"

    func users(ofContainer container: String) throws(DirectoryError) -> [DirectoryUser] {
        try self.read { database in
            let container = try Self.number(ofContainer: container, database)
            return try Row.fetchAll(
                database,
                sql: """
                    SELECT name, record_name, created_ms, is_revoked, kind,
                        (SELECT group_concat(value, char(10)) FROM (
                            SELECT value FROM user_contact WHERE user_contact.user = user.number
                            ORDER BY user_contact.kind, value))
                    FROM user WHERE container = ? AND kind != ? ORDER BY name
                    """,
                arguments: [container, UserKind.deleted]
            ).map { row in
                DirectoryUser(
                    name: row[0],
                    userRecordName: row[1],
                    createdMilliseconds: row[2],
                    isRevoked: row[3],
                    isService: row[4] == UserKind.service,
                    contacts: (row[5] as String?)?.split(separator: "\n").map(String.init) ?? []
                )
            }
        }
    }

    func revokeUser(named name: String, inContainer container: String) throws(DirectoryError) {
        try self.update(name, inContainer: container) { user, database in
            try database.execute(
                sql: """
                    UPDATE user SET token_hash = NULL, previous_hash = NULL, previous_until_ms = NULL,
                        is_revoked = 1, \(Self.nextVersion)
                    WHERE number = ?
                    """,
                arguments: [user.number]
            )
        }
    }

    func renewToken(
        ofUser name: String,
        inContainer container: String,
        tokenHash: [UInt8]
    ) throws(DirectoryError) {
        try self.update(name, inContainer: container) { user, database in
            try database.execute(
                sql: """
                    UPDATE user SET token_hash = ?, previous_hash = NULL, previous_until_ms = NULL,
                        is_revoked = 0, \(Self.nextVersion)
                    WHERE number = ?
                    """,
                arguments: [Data(tokenHash), user.number]
            )
        }
    }

    func rotateToken(
        ofUser name: String,
        inContainer container: String,
        tokenHash: [UInt8],
        overlapMilliseconds: Int64
    ) throws(DirectoryError) {
        let until = self.clock() + overlapMilliseconds
        try self.update(name, inContainer: container) { user, database in
            guard !user.isRevoked else { throw DirectoryError.userRevoked }
            try database.execute(
                sql: """
                    UPDATE user SET previous_hash = token_hash, previous_until_ms = ?, token_hash = ?,
                        \(Self.nextVersion)
                    WHERE number = ?
                    """,
                arguments: [until, Data(tokenHash), user.number]
            )
        }
    }

    func setContacts(
        _ contacts: [IdentityLookup],
        ofUser name: String,
        inContainer container: String
    ) throws(DirectoryError) {
        let wanted = contacts.compactMap { UserContact($0) }
        try self.update(name, inContainer: container) { user, database in
            try database.execute(sql: "DELETE FROM user_contact WHERE user = ?", arguments: [user.number])
            for contact in Set(wanted) {
                try database.execute(
                    sql: """
                        INSERT OR IGNORE INTO user_contact (container, kind, value, user)
                        SELECT container, ?, ?, number FROM user WHERE number = ?
                        """,
                    arguments: [contact.kind, contact.value, user.number]
                )
                guard database.changesCount == 1 else { throw DirectoryError.contactTaken }
            }
        }
    }

    /// Changes the row of a person.
    private func update(
        _ name: String,
        inContainer container: String,
        _ change: @escaping @Sendable ((number: Int64, isRevoked: Bool), Database) throws -> Void
    ) throws(DirectoryError) {
        try self.write { _, database in
            let container = try Self.number(ofContainer: container, database)
            let row = try Row.fetchOne(
                database,
                sql: "SELECT number, is_revoked, kind FROM user WHERE container = ? AND name = ?",
                arguments: [container, name]
            )
            guard let row else { throw DirectoryError.userMissing }
            guard row[2] == UserKind.person else { throw DirectoryError.userIsService }
            try change((row[0], row[1]), database)
        }
    }
}
