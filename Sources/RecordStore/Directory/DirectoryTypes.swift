package import StorageContract

/// A user as an operator sees it.
package struct DirectoryUser: Hashable, Sendable {
    package var name: String
    package var userRecordName: String
    package var createdMilliseconds: Int64
    package var isRevoked: Bool
    /// Whether no request of the user is executed.
    package var isRestricted: Bool
    /// A service, which has keys in place of tokens.
    package var isService: Bool
    /// E-mail addresses and phone numbers, as they are compared.
    package var contacts: [String]

    package init(
        name: String,
        userRecordName: String,
        createdMilliseconds: Int64,
        isRevoked: Bool,
        isRestricted: Bool,
        isService: Bool,
        contacts: [String] = []
    ) {
        self.isRestricted = isRestricted
        self.contacts = contacts
        self.isService = isService
        self.name = name
        self.userRecordName = userRecordName
        self.createdMilliseconds = createdMilliseconds
        self.isRevoked = isRevoked
    }
}

/// The databases of a signed-in or anonymous connection.
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
    /// The address or number belongs to another user.
    case contactTaken
    /// The database cannot be read or written now.
    case unavailable
}
