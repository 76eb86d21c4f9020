public import CloudKit
import RecordModel
import RecordServer
import RecordStore

// What an operator does about people, as `tidemark user` and `tidemark key` do.
extension TestServer {
    /// Revokes a user's access tokens and ends the connections that were opened with them.
    ///
    /// When it returns, every request of the user fails with `notAuthenticated`, on containers that were made before as well.
    ///
    /// - Parameters:
    ///   - user: A name that was asked for before.
    ///   - identifier: Of which container.
    /// - Throws: When there is no such user.
    public func revoke(
        _ user: String,
        identifier: String = TestServer.defaultContainerIdentifier
    ) async throws {
        try await self.administer { directory in
            try directory.revokeUser(named: user, inContainer: identifier)
        }
        await self.endRevokedConnections()
    }

    /// Gives a user a new access token, also after `revoke`.
    ///
    /// Containers and connections that are asked for from now on have it; those that were made before stay shut out.
    ///
    /// - Parameters:
    ///   - user: A name that was asked for before.
    ///   - identifier: Of which container.
    /// - Throws: When there is no such user.
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

    /// Sets the e-mail addresses and phone numbers by which others find a user to share something with.
    ///
    /// They take the place of those that the user had. Container and user are created when they are new.
    ///
    /// - Parameters:
    ///   - emails: Compared without regard to case.
    ///   - phoneNumbers: With the country's code.
    ///   - user: Any name.
    ///   - identifier: Of which container.
    /// - Throws: When one of them is somebody else's.
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

    /// Gives a user a role of the schema, or takes it away; it counts in the public database from the next request on.
    ///
    /// Roles come with `importSchema(_:identifier:)`. Container and user are created when they are new.
    ///
    /// - Parameters:
    ///   - role: A role that the schema creates.
    ///   - user: Any name.
    ///   - isGiven: Whether the user has the role afterwards.
    ///   - identifier: Of which container.
    ///   - environment: In which of its two bodies of data.
    /// - Throws: When the schema of the environment has no such role.
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

    /// A container as a service sees it, which signs in with a key of its own.
    ///
    /// The service and the user for whom it acts are created when they are new. Each call registers another key; a service has at most 16.
    ///
    /// - Parameters:
    ///   - service: Any name that is no user's.
    ///   - user: For whom the service acts, or `nil` for itself.
    ///   - identifier: Which container.
    ///   - environment: Which of its two bodies of data.
    /// - Returns: A container that connects to this server.
    /// - Throws: When the name is a user's, or the service has too many keys.
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

    private func administer(_ work: @escaping @Sendable (any Directory) throws -> Void) async throws {
        let directory = try self.store().directory
        try await TestAccounts.onThread { try work(directory) }
    }
}
