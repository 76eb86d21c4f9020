import RecordModel
import StorageContract

/// Finds the rights of a connection: a few rows by their keys, however many users there are.
struct SignInLookup {
    let rows: any TableReader
    let container: Int64
    let environment: EnvironmentID
    let publicDatabase: DatabaseID

    /// - Throws: `containerMissing`.
    init(container: String, environment: Environment, rows: any TableReader) throws {
        let number = try DirectoryLookup(rows: rows).container(container)
        guard let row = try rows.row(EnvironmentRow.byContainer, number, environment),
            let open = try rows.row(
                DatabaseRow.byOwner,
                row.number,
                DatabaseScope.public,
                DatabaseRow.nobody
            )
        else { throw DirectoryError.containerMissing }
        self.rows = rows
        self.container = number
        self.environment = row.number
        self.publicDatabase = open.number
    }

    /// The result of a claim.
    struct Found {
        var admission: Admittance
        /// The user of the claim; `nil` if the client is not signed in.
        var user: UserRow?
        /// Whether the user has databases in this environment.
        var hasDatabases: Bool
    }

    func find(_ claim: CredentialClaim, nowMilliseconds now: Int64) throws -> Found {
        let version = try DirectoryLookup(rows: self.rows).credentialVersion()
        let owner = try self.owner(of: claim, now: now)
        let signIn = try self.signIn(owner?.user)
        return Found(
            admission: Admittance(
                signIn: signIn,
                credential: owner?.credential,
                expiresMilliseconds: owner?.expires,
                version: version,
                readOnlyKeyID: owner?.readOnlyKeyID,
                isRestricted: owner?.user.isRestricted ?? false
            ),
            user: owner?.user,
            hasDatabases: try owner.map { try self.hasDatabases($0.user) } ?? false
        )
    }

    /// The databases of a user, or of a client that is not signed in.
    func signIn(_ user: UserRow?) throws(StorageFailure) -> SignIn {
        // A service has databases of its own like every user, and nothing leads to them.
        let owner = user?.kind == .service ? nil : user
        return SignIn(
            environment: self.environment,
            publicDatabase: self.publicDatabase,
            privateDatabase: try owner.flatMap { (owner) throws(StorageFailure) in
                try self.database(.private, of: owner)
            },
            sharedDatabase: try owner.flatMap { (owner) throws(StorageFailure) in
                try self.database(.shared, of: owner)
            },
            userRecordName: user?.recordName
        )
    }

    private func hasDatabases(_ user: UserRow) throws(StorageFailure) -> Bool {
        guard try self.database(.private, of: user) != nil else { return false }
        return try self.database(.shared, of: user) != nil
    }

    private func database(_ scope: DatabaseScope, of user: UserRow) throws(StorageFailure) -> DatabaseID? {
        try self.rows.row(DatabaseRow.byOwner, self.environment, scope, user.number)?.number
    }

    // MARK: Claims

    /// The owner of a credential.
    private struct Owner {
        var user: UserRow
        var credential: Credential
        /// `nil` if the credential does not end by itself.
        var expires: Int64?
        /// The ID of a service key that may only read.
        var readOnlyKeyID: String?
    }

    private func owner(of claim: CredentialClaim, now: Int64) throws -> Owner? {
        switch claim {
        case .nobody: return nil
        case .accessToken(let hash):
            let (user, expires) = try self.owner(ofToken: hash, now: now)
            return Owner(
                user: user,
                credential: .accessToken(user: user.number, hash: hash),
                expires: expires
            )
        case .identity(let identity):
            guard let user = try self.rows.row(UserRow.byName, self.container, identity.userName),
                user.kind == .person, !user.isRevoked
            else { throw DirectoryError.tokenUnknown }
            return Owner(
                user: user,
                credential: .identity(user: user.number),
                expires: identity.expiresMilliseconds
            )
        case .serviceKey(let id, let onBehalfOf):
            return try self.owner(ofKey: id, onBehalfOf: onBehalfOf)
        }
    }

    private func owner(ofToken hash: [UInt8], now: Int64) throws -> (UserRow, expires: Int64?) {
        if let user = try self.rows.row(UserRow.byToken, self.container, hash), !user.isRevoked {
            return (user, nil)
        }
        let rotated = try self.rows.rows(RowRange(UserRow.byPreviousToken, self.container, hash))
        guard let user = rotated.first(where: { (try? $0.end(ofToken: hash, now: now)) != nil }) else {
            throw DirectoryError.tokenUnknown
        }
        return (user, try user.end(ofToken: hash, now: now))
    }

    private func owner(ofKey id: String, onBehalfOf name: String?) throws -> Owner {
        guard let key = try DirectoryLookup(rows: self.rows).goodKey(id, in: self.container) else {
            throw DirectoryError.tokenUnknown
        }
        let found: UserRow?
        if let name {
            let user = try self.rows.row(UserRow.byName, self.container, name)
            found = try user.flatMap { try !$0.isRevoked && self.mayAct(key, for: $0) ? $0 : nil }
        } else {
            found = try self.rows.row(UserRow.byKey, key.service)
        }
        guard let user = found else { throw DirectoryError.tokenUnknown }
        return Owner(
            user: user,
            credential: .serviceKey(number: key.number, service: key.service, user: user.number),
            readOnlyKeyID: key.isReadOnly ? key.keyID : nil
        )
    }

    private func mayAct(_ key: ServiceKeyRow, for user: UserRow) throws(StorageFailure) -> Bool {
        try DirectoryLookup(rows: self.rows).mayAct(key.number, for: user.number)
    }
}

extension DirectoryLookup {
    /// Checks whether a credential that was admitted still would be, apart from its time; returns
    /// its current state.
    func recheck(_ credential: Credential, nowMilliseconds now: Int64) throws -> CredentialState {
        switch credential {
        case .accessToken(let number, let hash):
            guard let user = try self.rows.row(UserRow.byKey, number) else {
                throw DirectoryError.tokenUnknown
            }
            return CredentialState(
                expiresMilliseconds: try user.end(ofToken: hash, now: now),
                isRestricted: user.isRestricted
            )
        case .serviceKey(let number, _, let user):
            guard let key = try self.rows.row(ServiceKeyRow.byKey, number), !key.isRevoked else {
                throw DirectoryError.tokenUnknown
            }
            guard key.service != user else { return CredentialState() }
            guard try self.mayAct(number, for: user) else { throw DirectoryError.tokenUnknown }
            return try self.recheck(user)
        case .identity(let number): return try self.recheck(number)
        }
    }

    private func recheck(_ number: UserNumber) throws -> CredentialState {
        guard let user = try self.rows.row(UserRow.byKey, number), !user.isRevoked else {
            throw DirectoryError.tokenUnknown
        }
        return CredentialState(isRestricted: user.isRestricted)
    }
}

extension UserRow {
    /// When a token of the user ends; `nil` if it does not end by itself.
    ///
    /// - Throws: `tokenUnknown` if it is not the user's, or has ended.
    fileprivate func end(ofToken hash: [UInt8], now: Int64) throws(DirectoryError) -> Int64? {
        guard !self.isRevoked else { throw .tokenUnknown }
        if self.tokenHash == hash { return nil }
        guard self.previousHash == hash, let until = self.previousUntilMilliseconds, until > now else {
            throw .tokenUnknown
        }
        return until
    }
}
