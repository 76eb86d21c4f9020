package import RecordModel

/// Containers, users and access tokens.
///
/// Called a few times a connection and from the command line; blocking calls that belong on a thread of their
/// own, never on an event loop.
package protocol Directory: Sendable {
    /// Creates a container with both environments and their public databases. Throws `containerExists`.
    func createContainer(_ identifier: String) throws(DirectoryError)
    /// All containers, by identifier.
    func containers() throws(DirectoryError) -> [String]
    /// Adds a user and returns it with a fresh access token, whose SHA-256 is all that is stored.
    ///
    /// The caller makes `userRecordName` at random: `_` and 32 lower-case hexadecimal digits. `tokenHash` is the SHA-256 of
    /// the token, 32 bytes.
    func addUser(
        named name: String,
        userRecordName: String,
        tokenHash: [UInt8],
        toContainer container: String
    ) throws(DirectoryError)
    /// All users of a container, by name.
    func users(ofContainer container: String) throws(DirectoryError) -> [DirectoryUser]
    /// Revokes every token of a user. The user's records stay. A later `renewToken` lets the user in again.
    func revokeUser(named name: String, inContainer container: String) throws(DirectoryError)
    /// Gives a user a new token in place of all others.
    func renewToken(
        ofUser name: String,
        inContainer container: String,
        tokenHash: [UInt8]
    ) throws(DirectoryError)
    /// Gives a user a new token; the one before stays good for so long, and any that is older ends now.
    ///
    /// Fails with `userRevoked` for a user who has none: `renewToken` lets him in again.
    func rotateToken(
        ofUser name: String,
        inContainer container: String,
        tokenHash: [UInt8],
        overlapMilliseconds: Int64
    ) throws(DirectoryError)
    /// What a deletion would take, from counters and indexes; fails with `containerMissing` or `userMissing`.
    func extent(of deletion: Deletion) throws(DirectoryError) -> DeletionExtent
    /// Ends every credential, so that nobody changes any more what `deleteSome` takes; to be repeated does no harm.
    func beginDeletion(_ deletion: Deletion) throws(DirectoryError)
    /// Deletes a piece of what a deletion takes, in a transaction that is as short as those of clients.
    ///
    /// Files of assets go with the server's next sweep. Fails with `containerMissing` or `userMissing` once nothing is left.
    func deleteSome(of deletion: Deletion) throws(DirectoryError) -> DeletionProgress
    /// Replaces the e-mail addresses and phone numbers by which others find a user to share something with.
    ///
    /// Fails with `contactTaken` when one of them is somebody else's.
    func setContacts(
        _ contacts: [IdentityLookup],
        ofUser name: String,
        inContainer container: String
    ) throws(DirectoryError)
    /// Registers a key of a service, which is added with its first.
    ///
    /// Fails with `userExists` when somebody has the service's name, `userMissing` when one of those that it may act for is not
    /// there, `keyExists`, and `tooManyKeys`.
    func addServiceKey(_ key: NewServiceKey, toContainer container: String) throws(DirectoryError)
    /// All keys of a container's services, by the service's name and in the order in which they were registered.
    func serviceKeys(ofContainer container: String) throws(DirectoryError) -> [DirectoryServiceKey]
    /// Revokes one key of a service, or all; returns how many. The records of the service stay.
    ///
    /// Fails with `userMissing` for a service and `keyMissing` for a key that is not there.
    func revokeServiceKeys(
        ofService name: String,
        keyID: String?,
        inContainer container: String
    ) throws(DirectoryError) -> Int
    /// The public key of an ID in DER, unless it was revoked.
    func publicKey(
        ofServiceKey id: String,
        inContainer container: String
    ) throws(DirectoryError) -> [UInt8]?
    /// What a connection of a user by this name would use, or of somebody who is not signed in: for an operator, who needs no
    /// token and makes no database.
    ///
    /// Fails with `containerMissing`, `userMissing` or `unavailable`.
    func account(
        named user: String?,
        ofContainer container: String,
        environment: Environment
    ) throws(DirectoryError) -> SignIn
    /// What is stored in a container, from counters that are kept with every change: takes a time that depends on the number of users alone.
    func usage(ofContainer container: String) throws(DirectoryError) -> ContainerUsage
    /// What is stored in all containers together, from the same counters.
    func storedAmount() throws(DirectoryError) -> StoredAmount
    /// Random bytes that only servers of this store know, the same for as long as it lives.
    ///
    /// `name` says what they are for. If there are none yet they are `candidate` from now on, 32 bytes made at random.
    func secret(named name: String, orStoring candidate: [UInt8]) throws(DirectoryError) -> [UInt8]
    /// Finds what a connection may use and for how long, and creates the user's private database when it is the first time.
    ///
    /// Fails with `containerMissing`, `tokenUnknown` (wrong, revoked or not permitted: not told apart), `tokenExpired` for an identity
    /// whose time is over, or `unavailable`.
    func admit(
        _ claim: CredentialClaim,
        toContainer container: String,
        environment: Environment
    ) throws(DirectoryError) -> Admittance
    /// Who was changed after `version`; of all versions the first is 0.
    func credentialChanges(after version: Int64) throws(DirectoryError) -> CredentialChanges
    /// Whether a credential that was admitted still would be, but for its time.
    ///
    /// Returns when it ends, if it ends by itself; fails with `tokenUnknown`.
    func recheck(_ credential: Credential) throws(DirectoryError) -> Int64?
}

extension Directory {
    /// The same for an access token, or for nobody.
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
}

/// A user as an operator sees it.
package struct DirectoryUser: Hashable, Sendable {
    package var name: String
    package var userRecordName: String
    package var createdMilliseconds: Int64
    package var isRevoked: Bool
    /// A service, which has keys in place of tokens.
    package var isService: Bool
    /// E-mail addresses and phone numbers, as they are compared.
    package var contacts: [String]

    package init(
        name: String,
        userRecordName: String,
        createdMilliseconds: Int64,
        isRevoked: Bool,
        isService: Bool,
        contacts: [String] = []
    ) {
        self.contacts = contacts
        self.isService = isService
        self.name = name
        self.userRecordName = userRecordName
        self.createdMilliseconds = createdMilliseconds
        self.isRevoked = isRevoked
    }
}

/// What a signed-in (or anonymous) connection works with.
package struct SignIn: Hashable, Sendable {
    package var environment: EnvironmentID
    package var publicDatabase: DatabaseID
    /// `nil` when not signed in, and for a service.
    package var privateDatabase: DatabaseID?
    /// The same.
    package var sharedDatabase: DatabaseID?
    /// `nil` when not signed in.
    package var userRecordName: String?

    package init(
        environment: EnvironmentID,
        publicDatabase: DatabaseID,
        privateDatabase: DatabaseID?,
        sharedDatabase: DatabaseID? = nil,
        userRecordName: String?
    ) {
        self.environment = environment
        self.publicDatabase = publicDatabase
        self.privateDatabase = privateDatabase
        self.sharedDatabase = sharedDatabase
        self.userRecordName = userRecordName
    }
}

package enum DirectoryError: Error, Hashable, Sendable {
    case containerExists
    case containerMissing
    case containerNameInvalid
    case userExists
    case userMissing
    case userNameInvalid
    case tokenUnknown
    case tokenExpired
    /// The user was revoked, and has no token that another could take the place of.
    case userRevoked
    /// The user is a service, which has keys in place of tokens.
    case userIsService
    case keyExists
    case keyMissing
    case tooManyKeys
    /// The address or number is somebody else's.
    case contactTaken
    /// The database cannot be read or written now.
    case unavailable
}
