import Crypto
import Foundation

@testable import AccessTokens

/// An identity provider of the test's own, which signs whatever it is told to.
struct Provider {
    static let issuer = "https://id.example.org"
    static let container = "iCloud.org.example.app"
    static let nowMilliseconds: Int64 = 1_800_000_000_000
    static let now = 1_800_000_000.0

    let key = P256.Signing.PrivateKey()
    let keyID = "one"

    var publicJWK: [String: Any] {
        let point = Array(self.key.publicKey.rawRepresentation)
        return [
            "kty": "EC", "crv": "P-256", "kid": self.keyID, "x": Self.base64(point[..<32]),
            "y": Self.base64(point[32...]),
        ]
    }

    static func jwks(_ keys: [[String: Any]]) throws -> String {
        String(decoding: try JSONSerialization.data(withJSONObject: ["keys": keys]), as: UTF8.self)
    }

    func tokens(
        audience: String? = nil,
        leewaySeconds: Int = 60,
        keys: [[String: Any]]? = nil
    ) async throws -> IdentityTokens {
        IdentityTokens(
            rules: IdentityTokens.Rules(
                issuer: Self.issuer,
                audience: audience,
                leewaySeconds: leewaySeconds,
                createsUsers: true
            ),
            keys: try await VerificationKeys(contents: Self.jwks(keys ?? [self.publicJWK]))
        )
    }

    static var claims: [String: Any] {
        ["iss": self.issuer, "sub": "ada", "aud": self.container, "exp": self.now + 300]
    }

    /// A token with these changes to what a good one has; `NSNull` takes a member out.
    func token(_ claims: [String: Any] = [:], header: [String: Any] = [:]) throws -> String {
        let text =
            try Self.part(["alg": "ES256", "kid": self.keyID], header) + "."
            + Self.part(Self.claims, claims)
        return try self.signed(text)
    }

    func signed(_ text: String) throws -> String {
        let signature = try self.key.signature(for: Data(text.utf8)).rawRepresentation
        return text + "." + Self.base64(signature)
    }

    static func part(_ members: [String: Any], _ changes: [String: Any]) throws -> String {
        self.base64(try self.json(members, changes))
    }

    static func json(_ members: [String: Any], _ changes: [String: Any]) throws -> Data {
        let merged = members.merging(changes) { $1 }.filter { !($0.value is NSNull) }
        return try JSONSerialization.data(withJSONObject: merged, options: .sortedKeys)
    }

    static func base64(_ bytes: some Sequence<UInt8>) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }
}

/// Keys and tokens that another implementation made.
struct ForeignProvider: Decodable {
    var pem: [String: String]
    var tokens: [String: String]

    static func read() throws -> (provider: ForeignProvider, keys: [[String: Any]]) {
        let data = try Data(
            contentsOf: URL(fileURLWithPath: #filePath)
                .deletingLastPathComponent().deletingLastPathComponent()
                .appendingPathComponent("Fixtures/identity-provider.json")
        )
        let object = try JSONSerialization.jsonObject(with: data) as? [String: Any]
        return (
            try JSONDecoder().decode(ForeignProvider.self, from: data),
            object?["keys"] as? [[String: Any]] ?? []
        )
    }
}
