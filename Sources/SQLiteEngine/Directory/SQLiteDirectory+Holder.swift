import Foundation
import GRDB
import RecordStore

/// Finds the user that a claim is about.
extension SQLiteDirectory {
    /// Whose claim it is; `nil`: nobody's.
    func holder(
        of claim: CredentialClaim,
        in container: Int64,
        now: Int64,
        _ database: Database
    ) throws -> (user: UserRow, credential: Credential, expires: Int64?)? {
        switch claim {
        case .nobody: return nil
        case .accessToken(let hash):
            let (user, expires) = try self.tokenEnd(
                "container = ?1 AND is_revoked = 0",
                [container],
                hash: hash,
                now: now,
                database
            )
            return (user, .accessToken(user: UserNumber(rawValue: user.number), hash: hash), expires)
        case .identity(let identity):
            let user = try self.user(
                "container = ?1 AND name = ?2 AND kind = 0 AND is_revoked = 0",
                [container, identity.userName],
                database
            )
            guard let user else { throw DirectoryError.tokenUnknown }
            let number = UserNumber(rawValue: user.number)
            return (user, .identity(user: number), identity.expiresMilliseconds)
        case .serviceKey(let id, let onBehalfOf):
            let key = try Row.fetchOne(
                database,
                sql: """
                    SELECT number, user FROM service_key
                    WHERE container = ? AND key_id = ? AND revoked_ms IS NULL
                    """,
                arguments: [container, id]
            )
            guard let key else { throw DirectoryError.tokenUnknown }
            let (number, service) = (key[0] as Int64, key[1] as Int64)
            let user =
                if let onBehalfOf {
                    try self.user(
                        """
                        container = ?1 AND name = ?2 AND is_revoked = 0 AND EXISTS (
                            SELECT * FROM service_key_user
                            WHERE service_key = ?3 AND service_key_user.user = user.number)
                        """,
                        [container, onBehalfOf, number],
                        database
                    )
                } else {
                    try self.user("container = ?1 AND number = ?2", [container, service], database)
                }
            guard let user else { throw DirectoryError.tokenUnknown }
            let credential = Credential.serviceKey(
                number: number,
                service: UserNumber(rawValue: service),
                user: UserNumber(rawValue: user.number)
            )
            return (user, credential, nil)
        }
    }

    /// The user who has this token, and when it ends.
    func tokenEnd(
        _ condition: String,
        _ arguments: StatementArguments,
        hash: [UInt8],
        now: Int64,
        _ database: Database
    ) throws -> (user: UserRow, expires: Int64?) {
        let hash = Data(hash)
        if let user = try self.user(condition + " AND token_hash = ?2", arguments + [hash], database) {
            return (user, nil)
        }
        let previous = try Row.fetchOne(
            database,
            sql: """
                SELECT number, record_name, kind, previous_until_ms FROM user
                WHERE \(condition) AND previous_hash = ?2 AND previous_until_ms > ?3
                """,
            arguments: arguments + [hash, now]
        )
        guard let previous else { throw DirectoryError.tokenUnknown }
        return (Self.user(previous), previous[3])
    }

    func user(
        _ condition: String,
        _ arguments: StatementArguments,
        _ database: Database
    ) throws -> UserRow? {
        try Row.fetchOne(
            database,
            sql: "SELECT number, record_name, kind FROM user WHERE \(condition)",
            arguments: arguments
        ).map { Self.user($0) }
    }

    private static func user(_ row: Row) -> UserRow {
        UserRow(number: row[0], recordName: row[1], isService: row[2] == UserKind.service)
    }
}
