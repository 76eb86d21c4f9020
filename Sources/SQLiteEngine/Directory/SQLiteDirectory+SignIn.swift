import Foundation
import GRDB
import RecordModel
import RecordStore

extension SQLiteDirectory {
    func admit(
        _ claim: CredentialClaim,
        toContainer container: String,
        environment: Environment
    ) throws(DirectoryError) -> Admittance {
        let now = self.clock()
        if case .identity(let identity) = claim {
            guard identity.expiresMilliseconds > now else { throw .tokenExpired }
            try self.addUserIfMissing(identity, toContainer: container)
        }
        func find() throws(DirectoryError) -> Found {
            try self.read { database in
                try self.find(claim, container, environment, now: now, database)
            }
        }
        let found = try find()
        guard let user = found.user, !found.hasDatabase else { return found.admission }
        let signIn = found.admission.signIn
        try self.write { transaction, database in
            try DatabaseRows.welcome(user, signIn, transaction, database)
        }
        return try find().admission
    }

    func account(
        named user: String?,
        ofContainer container: String,
        environment: Environment
    ) throws(DirectoryError) -> SignIn {
        try self.read { database in
            let place = try Place(container: container, environment: environment, database)
            guard let user else { return place.signIn(nil, Own()) }
            let found = try self.user("container = ?1 AND name = ?2", [place.container, user], database)
            guard let found else { throw DirectoryError.userMissing }
            return place.signIn(found, try place.own(of: found, database))
        }
    }

    func credentialChanges(after version: Int64) throws(DirectoryError) -> CredentialChanges {
        try self.read { database in
            let last = try Self.version(database)
            guard last > version else { return CredentialChanges(version: last, users: []) }
            let users = try Int64.fetchAll(
                database,
                sql: "SELECT number FROM user WHERE credential_version > ?",
                arguments: [version]
            )
            return CredentialChanges(version: last, users: Set(users.map { UserNumber(rawValue: $0) }))
        }
    }

    func recheck(_ credential: Credential) throws(DirectoryError) -> Int64? {
        let now = self.clock()
        return try self.read { database in
            switch credential {
            case .accessToken(let user, let hash):
                return try self.tokenEnd(
                    "user.number = ?1 AND is_revoked = 0",
                    [user.rawValue],
                    hash: hash,
                    now: now,
                    database
                ).expires
            case .serviceKey(let number, _, let user):
                let acts = try Bool.fetchOne(
                    database,
                    sql: """
                        SELECT service_key.user = ?2 OR EXISTS (
                            SELECT * FROM service_key_user JOIN user ON user.number = service_key_user.user
                            WHERE service_key = ?1 AND user.number = ?2 AND is_revoked = 0)
                        FROM service_key WHERE number = ?1 AND revoked_ms IS NULL
                        """,
                    arguments: [number, user.rawValue]
                )
                guard acts == true else { throw DirectoryError.tokenUnknown }
                return nil
            case .identity(let user):
                let found = try self.user("number = ?1 AND is_revoked = 0", [user.rawValue], database)
                guard found != nil else { throw DirectoryError.tokenUnknown }
                return nil
            }
        }
    }

    // MARK: - Looking

    private struct Found {
        var admission: Admittance
        /// Who is to be welcomed if he has no database here.
        var user: DatabaseRows.User?
        var hasDatabase: Bool
    }

    struct UserRow {
        var number: Int64
        var recordName: String
        var isService: Bool
    }

    /// A user's own databases; `nil`: not made yet.
    private struct Own {
        var privateDatabase: DatabaseID?
        var sharedDatabase: DatabaseID?

        var isComplete: Bool { self.privateDatabase != nil && self.sharedDatabase != nil }
    }

    /// A container's environment.
    private struct Place {
        var container: Int64
        var environment: EnvironmentID
        var publicDatabase: DatabaseID

        init(container: String, environment: Environment, _ database: Database) throws {
            let row = try Row.fetchOne(
                database,
                sql: """
                    SELECT container.number, environment.number, database.number FROM container
                    JOIN environment ON environment.container = container.number AND environment.kind = ?2
                    JOIN database ON database.environment = environment.number
                        AND database.scope = 1 AND database.owner = 0
                    WHERE container.identifier = ?1
                    """,
                arguments: [container, Int64(environment.rawValue)]
            )
            guard let row else { throw DirectoryError.containerMissing }
            self.container = row[0]
            self.environment = EnvironmentID(rawValue: row[1])
            self.publicDatabase = DatabaseID(rawValue: row[2])
        }

        func own(of user: UserRow, _ database: Database) throws -> Own {
            func number(_ scope: DatabaseScope) throws -> DatabaseID? {
                try Int64.fetchOne(
                    database,
                    sql: "SELECT number FROM database WHERE environment = ? AND scope = ? AND owner = ?",
                    arguments: [self.environment.rawValue, Int64(scope.rawValue), user.number]
                ).map { DatabaseID(rawValue: $0) }
            }
            return Own(privateDatabase: try number(.private), sharedDatabase: try number(.shared))
        }

        /// A service has a row of its own like everybody else, and nothing leads to it.
        func signIn(_ user: UserRow?, _ own: Own) -> SignIn {
            SignIn(
                environment: self.environment,
                publicDatabase: self.publicDatabase,
                privateDatabase: user?.isService == true ? nil : own.privateDatabase,
                sharedDatabase: user?.isService == true ? nil : own.sharedDatabase,
                userRecordName: user?.recordName
            )
        }
    }

    private func find(
        _ claim: CredentialClaim,
        _ container: String,
        _ environment: Environment,
        now: Int64,
        _ database: Database
    ) throws -> Found {
        let place = try Place(container: container, environment: environment, database)
        let version = try Self.version(database)
        let holder = try self.holder(of: claim, in: place.container, now: now, database)
        guard let holder else {
            let admission = Admittance(
                signIn: place.signIn(nil, Own()),
                credential: nil,
                expiresMilliseconds: nil,
                version: version
            )
            return Found(admission: admission, user: nil, hasDatabase: false)
        }
        let own = try place.own(of: holder.user, database)
        let admission = Admittance(
            signIn: place.signIn(holder.user, own),
            credential: holder.credential,
            expiresMilliseconds: holder.expires,
            version: version
        )
        return Found(
            admission: admission,
            user: DatabaseRows.User(number: holder.user.number, recordName: holder.user.recordName),
            hasDatabase: own.isComplete
        )
    }

    private static func version(_ database: Database) throws -> Int64 {
        try Int64.fetchOne(database, sql: "SELECT max(credential_version) FROM user") ?? 0
    }

    private func addUserIfMissing(
        _ identity: IdentityClaim,
        toContainer container: String
    ) throws(DirectoryError) {
        guard let recordName = identity.newUserRecordName else { return }
        let name = identity.userName
        guard NameRules.isItemName(name), NameRules.isUserRecordName(recordName) else {
            throw .userNameInvalid
        }
        let isThere = try self.read { database in
            let container = try Self.number(ofContainer: container, database)
            return try self.user("container = ?1 AND name = ?2", [container, name], database) != nil
        }
        guard !isThere else { return }
        try self.write { transaction, database in
            let container = try Self.number(ofContainer: container, database)
            try database.execute(
                sql: """
                    INSERT OR IGNORE INTO user (container, name, record_name, created_ms)
                    VALUES (?, ?, ?, ?)
                    """,
                arguments: [container, name, recordName, transaction.nowMilliseconds]
            )
        }
    }
}
