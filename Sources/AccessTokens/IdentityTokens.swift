import Foundation
import JWTKit
import Synchronization

/// Verifies tokens of an identity provider, and returns the identity that they prove.
///
/// Only the operator's settings decide which keys and algorithms are accepted. A token's header can
/// only pick one of them.
///
/// - Source: RFC 7515, 7517, 7519; RFC 8725 (best current practices); `Protocol/README.md`, section
///   3.3.
package final class IdentityTokens: Sendable {
    /// The required contents of a valid token.
    package struct Rules: Hashable, Sendable {
        package var issuer: String
        /// The required audience, or `nil` for the identifier of the container of the connection.
        package var audience: String?
        /// Permitted difference of clocks.
        package var leewaySeconds: Int
        /// Whether an unknown user is added.
        package var createsUsers: Bool

        package init(issuer: String, audience: String?, leewaySeconds: Int, createsUsers: Bool) {
            self.issuer = issuer
            self.audience = audience
            self.leewaySeconds = leewaySeconds
            self.createsUsers = createsUsers
        }
    }

    /// The identity that a token proves.
    package struct Identity: Hashable, Sendable {
        package var subject: String
        /// Includes the leeway.
        package var expiresMilliseconds: Int64
    }

    package let rules: Rules
    private let keys: Mutex<VerificationKeys>

    package init(rules: Rules, keys: VerificationKeys) {
        self.rules = rules
        self.keys = Mutex(keys)
    }

    /// Sets the keys for all tokens that are verified later.
    package func replaceKeys(_ keys: VerificationKeys) {
        self.keys.withLock { $0 = keys }
    }

    /// Verifies a token.
    ///
    /// Takes up to a millisecond of the calling thread.
    ///
    /// - Throws: `expired` only if nothing else is wrong with the token.
    package func verify(
        _ token: String,
        container: String,
        nowMilliseconds: Int64
    ) throws(IdentityTokenError) -> Identity {
        let token = try CompactToken(token)
        guard !token.header.isCritical else { throw .extensionCritical }
        let keys = try self.keys.withLock { $0 }.matching(token.header)
        guard keys.contains(where: { token.isSigned(with: $0) }) else { throw .signatureWrong }
        return try self.identity(of: token.claims(), container, Double(nowMilliseconds) / 1_000)
    }

    private func identity(
        of claims: CompactToken.Claims,
        _ container: String,
        _ now: Double
    ) throws(IdentityTokenError) -> Identity {
        let leeway = Double(self.rules.leewaySeconds)
        guard claims.issuer == self.rules.issuer else { throw .issuerWrong }
        guard claims.audience.values.contains(self.rules.audience ?? container) else { throw .audienceWrong }
        guard Self.isTime(claims.expires), claims.notBefore.map(Self.isTime) ?? true else { throw .malformed }
        guard (claims.notBefore ?? 0) <= now + leeway else { throw .notYetGood }
        guard claims.expires + leeway > now else { throw .expired }
        return Identity(
            subject: claims.subject,
            expiresMilliseconds: Int64((claims.expires + leeway) * 1_000)
        )
    }

    /// Whether the time lies before the end of the year 9999, so that nothing overflows.
    private static func isTime(_ seconds: Double) -> Bool {
        seconds >= 0 && seconds < 253_402_300_800
    }
}

/// The fault of a token.
///
/// For the server's log, never for the peer.
package enum IdentityTokenError: String, Error, Sendable {
    case malformed = "not a JSON Web Token with iss, sub, aud and exp"
    case algorithmRefused = "no known key has its algorithm"
    case keyUnknown = "no key has its kid"
    case keyAmbiguous = "it has no kid, and several keys have its algorithm"
    case extensionCritical = "it has extensions that must be understood"
    case signatureWrong = "its signature is wrong"
    case issuerWrong = "it has another issuer"
    case audienceWrong = "it is for another audience"
    case notYetGood = "it is not valid yet"
    case expired = "it has expired"
}
