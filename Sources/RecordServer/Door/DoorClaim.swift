package import RecordModel
import RecordStore
package import SystemCrypto
import WireProtocol

/// The identity that the sender of a request of another protocol claims.
package struct DoorClaim: Sendable {
    package enum Proof: Sendable {
        case nobody
        /// An access token, or a token of the identity provider.
        case token(String)
        /// A service that has signed the request; `isMade` judges the signature.
        case signature(
            keyID: String,
            onBehalfOf: String?,
            isMade: @Sendable (P256PublicKey) -> Bool
        )
    }

    package let container: String
    package let environment: Environment
    package let proof: Proof

    package init(container: String, environment: Environment, proof: Proof) {
        self.container = container
        self.environment = environment
        self.proof = proof
    }
}

/// The sender of a request of another protocol, and what they may do.
package struct Visitor: Sendable {
    let user: ConnectionUser
    /// The limits of the request.
    let bounds: Bounds

    /// `nil` if no user is signed in.
    package var userRecordName: String? { self.user.signIn.userRecordName }
    /// Whether it is a service that acts for itself.
    package var isService: Bool { self.userRecordName != nil && self.user.signIn.privateDatabase == nil }

    init(_ admittance: Admittance, _ claim: DoorClaim, network: String, bounds: Bounds) {
        var bounds = bounds
        if admittance.signIn.userRecordName == nil { bounds.limitToStrangers() }
        self.bounds = bounds
        self.user = ConnectionUser(
            signIn: admittance.signIn,
            container: claim.container,
            environment: claim.environment,
            installation: [],
            network: network,
            readOnlyKeyID: admittance.readOnlyKeyID,
            isRestricted: admittance.isRestricted
        )
    }
}

/// Why the sender of a request is not let in.
package enum DoorRefusal: Error, Hashable, Sendable {
    /// A wrong, revoked or expired credential.
    case notAuthenticated
    case containerUnknown
    /// The directory cannot be read now.
    case unavailable
    case internalError

    init(_ refusal: SignInRefusal) {
        switch refusal.reason {
        case .notAuthenticated, .credentialExpired: self = .notAuthenticated
        case .containerUnknown: self = .containerUnknown
        case .overloaded: self = .unavailable
        default: self = .internalError
        }
    }
}
