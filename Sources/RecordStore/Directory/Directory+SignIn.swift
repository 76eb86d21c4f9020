package import RecordModel
import StorageContract

extension Directory {
    /// Finds the rights of a connection and when they end, and creates the user's databases at the
    /// first connection.
    ///
    /// - Throws: `tokenUnknown` if the token is wrong, revoked or not permitted, without
    ///   distinction; `tokenExpired` for an expired identity.
    package func admit(
        _ claim: CredentialClaim,
        toContainer container: String,
        environment: Environment
    ) throws(DirectoryError) -> Admittance {
        let now = self.clock()
        if case .identity(let identity) = claim {
            guard identity.expiresMilliseconds > now else { throw .tokenExpired }
            try self.addUserIfMissing(identity, toContainer: container)
        }
        func find() throws(DirectoryError) -> SignInLookup.Found {
            try self.read {
                try SignInLookup(container: container, environment: environment, rows: $0.rows)
                    .find(claim, nowMilliseconds: now)
            }
        }
        let found = try find()
        guard let user = found.user, !found.hasDatabases else { return found.admission }
        let signIn = found.admission.signIn
        try self.write { transaction in
            try UserRecordCreation(transaction: transaction, environment: signIn.environment)
                .welcome(user.number, named: user.recordName, publicDatabase: signIn.publicDatabase)
        }
        return try find().admission
    }

    /// The same for an access token, or for a client that is not signed in.
    package func signIn(
        container: String,
        environment: Environment,
        tokenHash: [UInt8]?
    ) throws(DirectoryError) -> SignIn {
        try self.admit(
            tokenHash.map { .accessToken(hash: $0) } ?? .nobody,
            toContainer: container,
            environment: environment
        ).signIn
    }

    /// Finds the account that a connection of a user by this name would use, or of a client that is
    /// not signed in: for an operator, who needs no token and makes no database.
    ///
    /// - Throws: `userMissing`.
    package func account(
        named name: String?,
        ofContainer container: String,
        environment: Environment
    ) throws(DirectoryError) -> SignIn {
        try self.read { lookup in
            let account = try SignInLookup(
                container: container,
                environment: environment,
                rows: lookup.rows
            )
            return try account.signIn(name.map { try lookup.user(named: $0, in: account.container) })
        }
    }

    /// The same for an operator who saves as a user: creates the user's databases, as their first
    /// sign-in would.
    ///
    /// A service has no databases.
    ///
    /// - Throws: `userMissing`.
    package func accountWithDatabases(
        named name: String,
        ofContainer container: String,
        environment: Environment
    ) throws(DirectoryError) -> SignIn {
        let signIn = try self.account(named: name, ofContainer: container, environment: environment)
        guard signIn.privateDatabase == nil || signIn.sharedDatabase == nil else { return signIn }
        let user = try self.read { try $0.user(named: name, in: $0.container(container)) }
        guard user.kind == .person else { return signIn }
        try self.write { transaction in
            try UserRecordCreation(transaction: transaction, environment: signIn.environment)
                .welcome(user.number, named: user.recordName, publicDatabase: signIn.publicDatabase)
        }
        return try self.account(named: name, ofContainer: container, environment: environment)
    }

    /// The users with changes of tokens, keys or rights after a version; the first version is 0.
    package func credentialChanges(after version: Int64) throws(DirectoryError) -> CredentialChanges {
        try self.read { try $0.credentialChanges(after: version) }
    }

    /// Whether a credential that was admitted still would be, but for its time.
    ///
    /// - Returns: The current state of the credential.
    /// - Throws: `tokenUnknown`.
    package func recheck(_ credential: Credential) throws(DirectoryError) -> CredentialState {
        let now = self.clock()
        return try self.read { try $0.recheck(credential, nowMilliseconds: now) }
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
        let isThere = try self.read {
            try $0.rows.row(UserRow.byName, $0.container(container), name) != nil
        }
        guard !isThere else { return }
        try self.change { change in
            do {
                try change.addUser(
                    named: name,
                    userRecordName: recordName,
                    tokenHash: nil,
                    toContainer: container
                )
            } catch DirectoryError.userExists {
                // Another connection of the same user was faster.
            }
        }
    }
}
