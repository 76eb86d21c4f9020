import RecordModel
package import StorageContract

/// A claim of an identity, proved as far as possible without the directory.
package enum CredentialClaim: Hashable, Sendable {
    /// The client is not signed in.
    case nobody
    /// SHA-256 of an access token.
    case accessToken(hash: [UInt8])
    /// A service that has signed with this key.
    case serviceKey(id: String, onBehalfOf: String?)
    /// A user of whom an identity provider spoke.
    case identity(IdentityClaim)
}

/// The claims in a token of an identity provider.
package struct IdentityClaim: Hashable, Sendable {
    package var userName: String
    /// The user record name of the user if they are added now.
    ///
    /// `nil` if a user who is not there is refused.
    package var newUserRecordName: String?
    /// When the token ends.
    package var expiresMilliseconds: Int64

    package init(userName: String, newUserRecordName: String?, expiresMilliseconds: Int64) {
        self.userName = userName
        self.newUserRecordName = newUserRecordName
        self.expiresMilliseconds = expiresMilliseconds
    }
}

/// The credential of a connection.
///
/// It is asked for again when something about one of its users has changed.
package enum Credential: Hashable, Sendable {
    case accessToken(user: UserNumber, hash: [UInt8])
    /// `user` is the service itself, or who it acts for.
    case serviceKey(number: Int64, service: UserNumber, user: UserNumber)
    case identity(user: UserNumber)

    /// The users with the entries that decide whether the credential is still valid.
    package var users: [UserNumber] {
        switch self {
        case .accessToken(let user, _): [user]
        case .serviceKey(_, let service, let user): [service, user]
        case .identity(let user): [user]
        }
    }
}

/// The rights of a connection, and when they end.
package struct Admittance: Hashable, Sendable {
    package var signIn: SignIn
    /// The credential; `nil` if the client is not signed in.
    package var credential: Credential?
    /// When the admittance ends; `nil` if it lasts until something is taken away.
    package var expiresMilliseconds: Int64?
    /// The version of the directory when it was read: see `Directory.credentialChanges`.
    package var version: Int64
    /// The ID of the service key of the connection, if the key may only read; otherwise `nil`.
    package var readOnlyKeyID: String?
    /// Whether no request of the user is executed.
    package var isRestricted: Bool

    package init(
        signIn: SignIn,
        credential: Credential?,
        expiresMilliseconds: Int64?,
        version: Int64,
        readOnlyKeyID: String? = nil,
        isRestricted: Bool = false
    ) {
        self.isRestricted = isRestricted
        self.signIn = signIn
        self.credential = credential
        self.expiresMilliseconds = expiresMilliseconds
        self.version = version
        self.readOnlyKeyID = readOnlyKeyID
    }
}

/// The current state of a credential that was admitted.
package struct CredentialState: Hashable, Sendable {
    /// When it ends; `nil` if it does not end by itself.
    package var expiresMilliseconds: Int64?
    /// Whether no request of its user is executed.
    package var isRestricted: Bool

    package init(expiresMilliseconds: Int64? = nil, isRestricted: Bool = false) {
        self.expiresMilliseconds = expiresMilliseconds
        self.isRestricted = isRestricted
    }
}

/// Users with changes of their tokens, keys or rights.
package struct CredentialChanges: Hashable, Sendable {
    /// To be given with the next question.
    package var version: Int64
    package var users: Set<UserNumber>

    package init(version: Int64, users: Set<UserNumber>) {
        self.version = version
        self.users = users
    }
}

/// A service key as an operator registers it.
package struct NewServiceKey: Hashable, Sendable {
    /// The name of the service; the same for all of its keys.
    package var serviceName: String
    /// The user record name of a service that is new.
    package var userRecordName: String
    /// 64 hexadecimal digits.
    package var keyID: String
    /// SubjectPublicKeyInfo in DER.
    package var publicKey: [UInt8]
    /// Names of users.
    package var onBehalfOf: [String]
    /// Whether connections with the key may change nothing.
    package var isReadOnly: Bool

    package init(
        serviceName: String,
        userRecordName: String,
        keyID: String,
        publicKey: [UInt8],
        onBehalfOf: [String],
        isReadOnly: Bool = false
    ) {
        self.serviceName = serviceName
        self.userRecordName = userRecordName
        self.keyID = keyID
        self.publicKey = publicKey
        self.onBehalfOf = onBehalfOf
        self.isReadOnly = isReadOnly
    }
}

/// A service key as an operator sees it.
package struct DirectoryServiceKey: Hashable, Sendable {
    package var serviceName: String
    package var userRecordName: String
    package var keyID: String
    package var createdMilliseconds: Int64
    package var isRevoked: Bool
    /// By name.
    package var onBehalfOf: [String]
    package var isReadOnly: Bool

    package init(
        serviceName: String,
        userRecordName: String,
        keyID: String,
        createdMilliseconds: Int64,
        isRevoked: Bool,
        onBehalfOf: [String],
        isReadOnly: Bool = false
    ) {
        self.serviceName = serviceName
        self.userRecordName = userRecordName
        self.keyID = keyID
        self.createdMilliseconds = createdMilliseconds
        self.isRevoked = isRevoked
        self.onBehalfOf = onBehalfOf
        self.isReadOnly = isReadOnly
    }
}
