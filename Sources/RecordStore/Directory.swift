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
    /// Random bytes that only servers of this store know, the same for as long as it lives.
    ///
    /// `name` says what they are for. If there are none yet they are `candidate` from now on, 32 bytes made at random.
    func secret(named name: String, orStoring candidate: [UInt8]) throws(DirectoryError) -> [UInt8]
    /// Finds what a connection may use, and creates the user's private database when it is the first time.
    ///
    /// Without a token it is a connection that is not signed in. Fails with `containerMissing`, `tokenUnknown` (wrong or
    /// revoked: not told apart) or `unavailable`.
    func signIn(
        container: String,
        environment: Environment,
        tokenHash: [UInt8]?
    ) throws(DirectoryError) -> SignIn
}

/// A user as an operator sees it.
package struct DirectoryUser: Hashable, Sendable {
    package var name: String
    package var userRecordName: String
    package var createdMilliseconds: Int64
    package var isRevoked: Bool

    package init(name: String, userRecordName: String, createdMilliseconds: Int64, isRevoked: Bool) {
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
    /// `nil` when not signed in.
    package var privateDatabase: DatabaseID?
    /// `nil` when not signed in.
    package var userRecordName: String?

    package init(
        environment: EnvironmentID,
        publicDatabase: DatabaseID,
        privateDatabase: DatabaseID?,
        userRecordName: String?
    ) {
        self.environment = environment
        self.publicDatabase = publicDatabase
        self.privateDatabase = privateDatabase
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
    /// The database cannot be read or written now.
    case unavailable
}
