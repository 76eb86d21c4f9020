import Foundation
import JWTKit

/// A JSON Web Token in its compact form: `header.claims.signature`, each in base64url without
/// padding.
struct CompactToken {
    struct Header: Decodable {
        var algorithm: String
        var keyID: String?
        /// Whether the header names critical extensions.
        ///
        /// None is supported here.
        var isCritical: Bool

        private enum CodingKeys: String, CodingKey {
            case algorithm = "alg"
            case keyID = "kid"
            case critical = "crit"
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            self.algorithm = try container.decode(String.self, forKey: .algorithm)
            self.keyID = try container.decodeIfPresent(String.self, forKey: .keyID)
            self.isCritical = container.contains(.critical)
        }
    }

    struct Claims: Decodable {
        var issuer: String
        var subject: String
        var audience: Audience
        /// Seconds since 1970.
        var expires: Double
        var notBefore: Double?

        private enum CodingKeys: String, CodingKey {
            case issuer = "iss"
            case subject = "sub"
            case audience = "aud"
            case expires = "exp"
            case notBefore = "nbf"
        }
    }

    /// One string, or a list of them.
    struct Audience: Decodable {
        var values: [String]

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let value = try? container.decode(String.self) {
                self.values = [value]
            } else {
                self.values = try container.decode([String].self)
            }
        }
    }

    let header: Header
    private let claimBytes: Data
    private let signature: Data
    /// The first two parts, as received.
    private let signed: Data

    init(_ text: String) throws(IdentityTokenError) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.decoded(parts[0]), let claims = Self.decoded(parts[1]),
            let signature = Self.decoded(parts[2]), StrictJSON.isObject(header),
            let fields = try? JSONDecoder().decode(Header.self, from: header)
        else { throw .malformed }
        self.header = fields
        self.claimBytes = claims
        self.signature = signature
        self.signed = Data(text.utf8.prefix(parts[0].utf8.count + 1 + parts[1].utf8.count))
    }

    func isSigned(with key: VerificationKeys.Key) -> Bool {
        (try? key.algorithm.verify(self.signature, signs: self.signed)) ?? false
    }

    func claims() throws(IdentityTokenError) -> Claims {
        guard StrictJSON.isObject(self.claimBytes) else { throw .malformed }
        do {
            return try JSONDecoder().decode(Claims.self, from: self.claimBytes)
        } catch {
            throw .malformed
        }
    }

    /// Returns `nil` for anything but base64url without padding, so that each token has one form.
    private static func decoded(_ part: Substring) -> Data? {
        guard
            part.utf8.allSatisfy({ byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
                default: false
                }
            })
        else { return nil }
        let standard = part.replacing("-", with: "+").replacing("_", with: "/")
        return Data(base64Encoded: standard + String(repeating: "=", count: (4 - standard.count % 4) % 4))
    }
}
