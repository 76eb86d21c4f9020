import Foundation
import JWTKit
import Synchronization

/// Decides whether a token of an identity provider is one, and whose.
///
/// Everything that chooses a key or an algorithm comes from the operator; a token's header only picks among that.
///
/// - Source: RFC 7515, 7517, 7519; RFC 8725 (best current practices); `Protocol/README.md`, section 3.3.
package final class IdentityTokens: Sendable {
    /// What a token must say.
    package struct Rules: Hashable, Sendable {
        package var issuer: String
        /// `nil`: the identifier of the container that is connected to.
        package var audience: String?
        /// By how much clocks may differ.
        package var leewaySeconds: Int
        /// Whether a user who is not there is added.
        package var createsUsers: Bool

        package init(issuer: String, audience: String?, leewaySeconds: Int, createsUsers: Bool) {
            self.issuer = issuer
            self.audience = audience
            self.leewaySeconds = leewaySeconds
            self.createsUsers = createsUsers
        }
    }

    /// What a token proves.
    package struct Identity: Hashable, Sendable {
        package var subject: String
        /// With the leeway.
        package var expiresMilliseconds: Int64
    }

    package let rules: Rules
    private let keys: Mutex<VerificationKeys>

    package init(rules: Rules, keys: VerificationKeys) {
        self.rules = rules
        self.keys = Mutex(keys)
    }

    /// Tokens that are looked at from now on need one of these keys.
    package func replaceKeys(_ keys: VerificationKeys) {
        self.keys.withLock { $0 = keys }
    }

    /// Checks a token; takes up to a millisecond of the calling thread.
    ///
    /// - Throws: `expired` only for a token that is wrong in nothing else.
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

    /// Up to the end of the year 9999: nothing overflows.
    private static func isTime(_ seconds: Double) -> Bool {
        seconds >= 0 && seconds < 253_402_300_800
    }
}

/// What is wrong with a token; for the server's log, never for the peer.
package enum IdentityTokenError: String, Error, Sendable {
    case malformed = "not a JSON Web Token with iss, sub, aud and exp"
    case algorithmRefused = "its algorithm is not one of a key that is known"
    case keyUnknown = "no key has its kid"
    case keyAmbiguous = "it has no kid, and several keys have its algorithm"
    case extensionCritical = "it has extensions that must be understood"
    case signatureWrong = "its signature is wrong"
    case issuerWrong = "it is of another issuer"
    case audienceWrong = "it is for another audience"
    case notYetGood = "it is not good yet"
    case expired = "it has expired"
}
