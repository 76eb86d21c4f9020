import AccessTokens
import NIOPosix
import RecordModel
import RecordStore
import SystemCrypto
import WireProtocol

/// Authenticates connections.
///
/// Only the SHA-256 of a token is compared, in an index of hashes, so response times reveal nothing
/// about a token.
struct Authenticator: Sendable {
    let directory: Directory
    /// `nil` if no identity provider is trusted.
    let identities: IdentityTokens?
    /// Milliseconds since 1970.
    let clock: @Sendable () -> Int64

    /// Authenticates a client.
    ///
    /// Blocks: call it on a thread of its own, not on an event loop.
    ///
    /// - Parameters:
    ///   - hello: The client's hello.
    ///   - proof: The client's reply to a challenge; present if and only if the hello has a service
    ///     key.
    /// - Returns: The permissions of the connection.
    /// - Throws: `notAuthenticated` (wrong, revoked or not permitted), `credentialExpired`,
    ///   `containerUnknown`, `overloaded` when the directory can't be read, `internalError`.
    func signIn(_ hello: Hello, proof: ReceivedProof?) throws(SignInRefusal) -> Admittance {
        guard NameRules.isContainerID(hello.container) else { throw SignInRefusal(.containerUnknown) }
        let claim: CredentialClaim
        if let proof {
            claim = try self.service(hello, proof)
        } else if !hello.identityToken.isEmpty {
            claim = try self.identity(hello.identityToken, container: hello.container)
        } else if hello.accessToken.isEmpty {
            claim = .nobody
        } else {
            claim = .accessToken(hash: SHA256.hash(hello.accessToken))
        }
        return try self.admit(claim, container: hello.container, environment: hello.environment)
    }

    /// Authenticates the sender of a request of another protocol; blocks as well.
    func signIn(_ claim: DoorClaim) throws(SignInRefusal) -> Admittance {
        guard NameRules.isContainerID(claim.container) else { throw SignInRefusal(.containerUnknown) }
        let credential: CredentialClaim
        switch claim.proof {
        case .nobody: credential = .nobody
        case .token(let token) where token.hasPrefix(AccessToken.prefix):
            credential = .accessToken(hash: SHA256.hash(token))
        case .token(let token):
            credential = try self.identity(token, container: claim.container)
        case .signature(let keyID, let onBehalfOf, let isMade):
            let key: [UInt8]?
            do {
                key = try self.directory.publicKey(ofServiceKey: keyID, inContainer: claim.container)
            } catch {
                throw SignInRefusal(error)
            }
            guard let key else { throw SignInRefusal(.notAuthenticated, "no such service key") }
            guard P256PublicKey(der: key).map(isMade) ?? false else {
                throw SignInRefusal(.notAuthenticated, "the service's signature is wrong")
            }
            credential = .serviceKey(id: keyID, onBehalfOf: onBehalfOf)
        }
        return try self.admit(credential, container: claim.container, environment: claim.environment)
    }

    private func admit(
        _ claim: CredentialClaim,
        container: String,
        environment: Environment
    ) throws(SignInRefusal) -> Admittance {
        do {
            return try self.directory.admit(claim, toContainer: container, environment: environment)
        } catch {
            throw SignInRefusal(error)
        }
    }

    private func service(_ hello: Hello, _ proof: ReceivedProof) throws(SignInRefusal) -> CredentialClaim {
        guard let name = hello.serviceKey else { throw SignInRefusal(.internalError) }
        let key: [UInt8]?
        do {
            key = try self.directory.publicKey(ofServiceKey: name.keyID, inContainer: hello.container)
        } catch {
            throw SignInRefusal(error)
        }
        guard let key else { throw SignInRefusal(.notAuthenticated, "no such service key") }
        guard proof.isSigned(with: key, hello, name) else {
            throw SignInRefusal(.notAuthenticated, "the service's signature is wrong")
        }
        return .serviceKey(id: name.keyID, onBehalfOf: name.onBehalfOf.isEmpty ? nil : name.onBehalfOf)
    }

    private func identity(
        _ token: String,
        container: String
    ) throws(SignInRefusal) -> CredentialClaim {
        guard let identities else {
            throw SignInRefusal(.notAuthenticated, "no identity provider is trusted")
        }
        let identity: IdentityTokens.Identity
        do {
            identity = try identities.verify(
                token,
                container: container,
                nowMilliseconds: self.clock()
            )
        } catch {
            throw SignInRefusal(
                error == .expired ? .credentialExpired : .notAuthenticated,
                "identity token: \(error.rawValue)"
            )
        }
        guard NameRules.isItemName(identity.subject) else {
            throw SignInRefusal(.notAuthenticated, "identity token: its subject cannot be a user's name")
        }
        return .identity(
            IdentityClaim(
                userName: identity.subject,
                newUserRecordName: identities.rules.createsUsers ? RandomNames.userRecordName() : nil,
                expiresMilliseconds: identity.expiresMilliseconds
            )
        )
    }
}

/// A signature, and the nonce it must cover.
struct ReceivedProof: Sendable {
    let nonce: [UInt8]
    /// SHA-256 of the server's certificate.
    let certificateHash: [UInt8]
    let signature: [UInt8]

    /// Whether the holder of a key, given in DER, made this signature.
    func isSigned(with key: [UInt8], _ hello: Hello, _ name: ServiceKeyName) -> Bool {
        let text = ProofText.bytes(
            nonce: self.nonce,
            certificateHash: self.certificateHash,
            environment: hello.environment,
            container: hello.container,
            key: name
        )
        return P256PublicKey(der: key)?.isValid(self.signature, of: text) ?? false
    }
}

/// Why a sign-in is refused.
struct SignInRefusal: Error, Hashable {
    var reason: CloseReason
    /// For the log alone.
    var detail: String

    init(_ reason: CloseReason, _ detail: String = "") {
        self.reason = reason
        self.detail = detail
    }

    init(_ error: DirectoryError) {
        self.detail = ""
        switch error {
        case .tokenUnknown: self.reason = .notAuthenticated
        case .tokenExpired: self.reason = .credentialExpired
        case .containerMissing: self.reason = .containerUnknown
        case .containerNameInvalid: self.reason = .containerUnknown
        case .unavailable: self.reason = .overloaded
        case .userNameInvalid: self.reason = .notAuthenticated
        case .containerExists, .userExists, .userMissing, .userRevoked, .userIsService, .keyExists,
            .keyMissing, .tooManyKeys, .contactTaken:
            self.reason = .internalError
        }
    }
}
