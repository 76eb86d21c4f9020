public import CloudKit
import RecordModel
import RecordServer
import RecordStore

// The operator's actions on users, as `tidemark user` and `tidemark key`.
extension TestServer {
    /// Revokes a user's access tokens and ends the connections that were opened with them.
    ///
    /// When it returns, every request of the user fails with `notAuthenticated`, also on earlier
    /// containers.
    ///
    /// - Parameters:
    ///   - user: The name of an existing user.
    ///   - identifier: The identifier of the container.
    /// - Throws: If there is no such user.
    public func revoke(
        _ user: String,
        identifier: String = TestServer.defaultContainerIdentifier
    ) async throws {
        try await self.administer { directory in
            try directory.revokeUser(named: user, inContainer: identifier)
        }
        await self.endRevokedConnections()
    }

    /// Restricts the processing of a user's data, or lifts that, as `tidemark user restrict` does.
    ///
    /// When it returns, every request of a restricted user fails with `managedAccountRestricted`, and
    /// the account status is `restricted`.
    ///
    /// - Parameters:
    ///   - user: The name of an existing user.
    ///   - isRestricted: Whether the user is restricted afterwards.
    ///   - identifier: The identifier of the container.
    /// - Throws: If there is no such user.
    public func restrict(
        _ user: String,
        isRestricted: Bool = true,
        identifier: String = TestServer.defaultContainerIdentifier
    ) async throws {
        try await self.administer { directory in
            try directory.setRestriction(isRestricted, ofUser: user, inContainer: identifier)
        }
        await self.endRevokedConnections()
    }

    /// Gives a user a new access token, also after `revoke`.
    ///
    /// Containers and connections requested from now on have it; earlier ones stay locked out.
    ///
    /// - Parameters:
    ///   - user: The name of an existing user.
    ///   - identifier: The identifier of the container.
    /// - Throws: If there is no such user.
    public func renew(
        _ user: String,
        identifier: String = TestServer.defaultContainerIdentifier
    ) async throws {
        let token = AccessToken()
        try await self.administer { directory in
            try directory.renewToken(ofUser: user, inContainer: identifier, tokenHash: token.hash)
        }
        self.accounts.replaceToken(of: user, container: identifier, by: token)
        await self.endRevokedConnections()
    }

    /// Sets the e-mail addresses and phone numbers by which others find a user to share with.
    ///
    /// They replace those that the user had. Container and user are created if they are new.
    ///
    /// - Parameters:
    ///   - emails: The addresses, compared without regard to case.
    ///   - phoneNumbers: The numbers, with the country's code.
    ///   - user: Any name.
    ///   - identifier: The identifier of the container.
    /// - Throws: If one of them belongs to another user.
    public func setContacts(
        emails: [String] = [],
        phoneNumbers: [String] = [],
        of user: String,
        identifier: String = TestServer.defaultContainerIdentifier
    ) async throws {
        _ = try await self.connection(for: user, identifier: identifier)
        let contacts =
            emails.map { IdentityLookup.emailAddress($0) } + phoneNumbers.map { .phoneNumber($0) }
        try await self.administer { directory in
            try directory.setContacts(contacts, ofUser: user, inContainer: identifier)
        }
    }

    /// Grants or revokes a user's role in the public database, from the next request on.
    ///
    /// `importSchema(_:identifier:)` creates roles. Container and user are created if they are new.
    ///
    /// - Parameters:
    ///   - role: A role of the schema.
    ///   - user: Any name.
    ///   - isGiven: Whether the user has the role afterwards.
    ///   - identifier: The identifier of the container.
    ///   - environment: Which of the container's two sets of data is meant.
    /// - Throws: If the schema of the environment has no such role.
    public func setRole(
        _ role: String,
        of user: String,
        isGiven: Bool = true,
        identifier: String = TestServer.defaultContainerIdentifier,
        environment: CKServerConnection.Environment = .development
    ) async throws {
        _ = try await self.connection(for: user, identifier: identifier)
        let schemas = try self.store().schemas
        try await TestAccounts.onThread {
            try schemas.setRole(
                role,
                ofUser: user,
                isGiven: isGiven,
                inContainer: identifier,
                environment: environment == .production ? .production : .development
            )
        }
    }

    /// Returns a container with the credential of a service, which signs in with a key of its own.
    ///
    /// The service and the user for whom it acts are created if they are new. Each call registers
    /// another key; a service has at most 16.
    ///
    /// - Parameters:
    ///   - service: Any name that is not a user's.
    ///   - user: The user for whom the service acts; `nil` if it acts for itself.
    ///   - identifier: The identifier of the container.
    ///   - environment: Which of the container's two sets of data is meant.
    /// - Returns: A container that connects to this server.
    /// - Throws: If the name is a user's, or if the service has too many keys.
    public func container(
        forService service: String,
        onBehalfOf user: String? = nil,
        identifier: String = TestServer.defaultContainerIdentifier,
        environment: CKServerConnection.Environment = .development
    ) async throws -> CKContainer {
        var connection = try await self.connection(
            for: user,
            identifier: identifier,
            environment: environment
        )
        let pair = ServiceKeyPair()
        let key = NewServiceKey(
            serviceName: service,
            userRecordName: TestAccounts.userRecordName(service, in: identifier),
            keyID: pair.keyID,
            publicKey: pair.publicKey,
            onBehalfOf: user.map { [$0] } ?? []
        )
        try await self.administer { directory in
            try directory.addServiceKey(key, toContainer: identifier)
        }
        connection.token = nil
        connection.serviceKey = .init(.pem(pair.privatePEM ?? ""), onBehalfOf: user)
        self.accounts.remember(connection)
        return CKContainer(identifier: identifier, connection: connection)
    }

    private func administer(_ work: @escaping @Sendable (Directory) throws -> Void) async throws {
        let directory = try self.store().directory
        try await TestAccounts.onThread { try work(directory) }
    }
}
