import Crypto
import Foundation
import Testing

@testable import AccessTokens

/// One change to a good token, and what is said to it.
struct BadToken: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let error: IdentityTokenError
    let make: @Sendable (Provider) throws -> String

    init(_ name: String, _ error: IdentityTokenError, _ make: @escaping @Sendable (Provider) throws -> String)
    {
        self.testDescription = name
        self.error = error
        self.make = make
    }

    static let all: [BadToken] = [
        // The algorithm is the key's, whatever the header says.
        BadToken("alg none, no signature", .algorithmRefused) {
            try Self.unsigned($0, ["alg": "none"]) + "."
        },
        BadToken("alg None in other letters", .algorithmRefused) {
            try Self.unsigned($0, ["alg": "nOnE"]) + "."
        },
        BadToken("alg none, with a good signature", .algorithmRefused) {
            try $0.token(header: ["alg": "none"])
        },
        BadToken("HMAC with the public key as secret", .algorithmRefused) { provider in
            let text = try Self.unsigned(provider, ["alg": "HS256"])
            let secret = SymmetricKey(data: Data(provider.key.publicKey.pemRepresentation.utf8))
            let code = HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: secret)
            return text + "." + Provider.base64(code)
        },
        BadToken("another curve", .algorithmRefused) { try $0.token(header: ["alg": "ES384"]) },
        BadToken("RSA", .algorithmRefused) { try $0.token(header: ["alg": "RS256"]) },
        BadToken("no alg", .malformed) { try $0.token(header: ["alg": NSNull()]) },
        BadToken("an unknown kid", .keyUnknown) { try $0.token(header: ["kid": "two"]) },
        BadToken("extensions", .extensionCritical) { try $0.token(header: ["crit": ["b64"], "b64": false]) },
        BadToken("a key in the header", .signatureWrong) { provider in
            let other = Provider()
            return try other.token(header: ["jwk": other.publicJWK, "kid": provider.keyID])
        },
        BadToken("the signature of another key", .signatureWrong) { _ in try Provider().token() },
        BadToken("no signature", .signatureWrong) { try Self.unsigned($0, [:]) + "." },
        BadToken("a signature of zeros", .signatureWrong) {
            try Self.unsigned($0, [:]) + "." + Provider.base64([UInt8](repeating: 0, count: 64))
        },
        BadToken("a signature that is cut", .signatureWrong) { String(try $0.token().dropLast(4)) },
        BadToken("other claims under the signature", .signatureWrong) { provider in
            let parts = try provider.token().split(separator: ".").map(String.init)
            let claims = try Provider.part(Provider.claims, ["sub": "eve"])
            return [parts[0], claims, parts[2]].joined(separator: ".")
        },
        // Claims.
        BadToken("another issuer", .issuerWrong) { try $0.token(["iss": "https://id.example.org/"]) },
        BadToken("another audience", .audienceWrong) { try $0.token(["aud": "iCloud.other"]) },
        BadToken("other audiences", .audienceWrong) { try $0.token(["aud": ["a", "b"]]) },
        BadToken("an empty list of audiences", .audienceWrong) { try $0.token(["aud": [String]()]) },
        BadToken("expired longer ago than the leeway", .expired) { try $0.token(["exp": Provider.now - 60]) },
        BadToken("not good for longer than the leeway", .notYetGood) {
            try $0.token(["nbf": Provider.now + 61])
        },
        BadToken("expired and of another issuer", .issuerWrong) { try $0.token(["exp": 1, "iss": "x"]) },
        BadToken("no issuer", .malformed) { try $0.token(["iss": NSNull()]) },
        BadToken("no subject", .malformed) { try $0.token(["sub": NSNull()]) },
        BadToken("no audience", .malformed) { try $0.token(["aud": NSNull()]) },
        BadToken("no end", .malformed) { try $0.token(["exp": NSNull()]) },
        BadToken("an end that is text", .malformed) { try $0.token(["exp": "1800000300"]) },
        BadToken("an end beyond all calendars", .malformed) { try $0.token(["exp": 1e300]) },
        BadToken("an end before all of ours", .malformed) { try $0.token(["exp": -1e300]) },
        BadToken("a subject that is a number", .malformed) { try $0.token(["sub": 7]) },
        // Form.
        BadToken("nothing", .malformed) { _ in "" },
        BadToken("two dots", .malformed) { _ in ".." },
        BadToken("two parts", .malformed) { try Self.unsigned($0, [:]) },
        BadToken("five parts", .malformed) { try $0.token() + ".a.b" },
        BadToken("padding", .malformed) { try $0.token() + "=" },
        BadToken("base64 that is not of addresses", .malformed) {
            let token = try $0.token()
            return "+" + token
        },
        BadToken("claims that are no JSON", .malformed) { try Self.claims("{", signedBy: $0) },
        BadToken("a header that names its algorithm twice", .malformed) { provider in
            try Self.header(#"{"alg":"ES256","alg":"ES256"}"#, .utf8, signedBy: provider)
        },
        BadToken("a header in UTF-16", .malformed) {
            try Self.header(#"{"alg":"ES256"}"#, .utf16LittleEndian, signedBy: $0)
        },
        BadToken("a header with a byte order mark", .malformed) {
            try Self.header("\u{FEFF}{\"alg\":\"ES256\"}", .utf8, signedBy: $0)
        },
        BadToken("claims that name their subject twice", .malformed) { provider in
            let good = String(decoding: try Provider.json(Provider.claims, [:]), as: UTF8.self)
            return try Self.claims(good.dropLast() + #","s\u0075b":"eve"}"#, signedBy: provider)
        },
        BadToken("claims in UTF-32", .malformed) { provider in
            let good = String(decoding: try Provider.json(Provider.claims, [:]), as: UTF8.self)
            return try Self.claims(good, .utf32BigEndian, signedBy: provider)
        },
        BadToken("claims with a byte order mark", .malformed) { provider in
            let good = String(decoding: try Provider.json(Provider.claims, [:]), as: UTF8.self)
            return try Self.claims("\u{FEFF}" + good, signedBy: provider)
        },
        BadToken("claims that nest", .malformed) { provider in
            let deep = String(repeating: "[", count: 2_000)
            return try Self.claims(deep, signedBy: provider)
        },
    ]

    private static func claims(
        _ text: String,
        _ encoding: String.Encoding = .utf8,
        signedBy provider: Provider
    ) throws -> String {
        let header = try Provider.part(["alg": "ES256"], [:])
        return try provider.signed(header + "." + Provider.base64(text.data(using: encoding) ?? Data()))
    }

    private static func header(
        _ text: String,
        _ encoding: String.Encoding,
        signedBy provider: Provider
    ) throws -> String {
        let header = Provider.base64(text.data(using: encoding) ?? Data())
        return try provider.signed(header + "." + Provider.part(Provider.claims, [:]))
    }

    private static func unsigned(_ provider: Provider, _ header: [String: Any]) throws -> String {
        try Provider.part(["alg": "ES256", "kid": provider.keyID], header) + "."
            + Provider.part(Provider.claims, [:])
    }
}

@Suite struct IdentityTokenTests {
    private func verify(_ token: String, with tokens: IdentityTokens) throws -> IdentityTokens.Identity {
        try tokens.verify(
            token,
            container: Provider.container,
            nowMilliseconds: Provider.nowMilliseconds
        )
    }

    @Test(arguments: BadToken.all)
    func `a token that is not what it must be is refused`(bad: BadToken) async throws {
        let provider = Provider()
        let tokens = try await provider.tokens()
        #expect(throws: bad.error) { try self.verify(bad.make(provider), with: tokens) }
        // The same provider's good one is taken, so that nothing else was wrong.
        #expect(try self.verify(provider.token(), with: tokens).subject == "ada")
    }

    @Test func `a good token says who it is and when it ends, leeway included`() async throws {
        let provider = Provider()
        let tokens = try await provider.tokens()
        let end = Int64(Provider.now + 360) * 1_000
        for changes: [String: Any] in [[:], ["nbf": Provider.now + 60], ["aud": ["x", Provider.container]]] {
            let identity = try self.verify(provider.token(changes), with: tokens)
            #expect(identity == IdentityTokens.Identity(subject: "ada", expiresMilliseconds: end))
        }
        let late = try self.verify(provider.token(["exp": Provider.now - 59]), with: tokens)
        #expect(late.expiresMilliseconds == Int64(Provider.now + 1) * 1_000)
        let exact = try await provider.tokens(leewaySeconds: 0)
        #expect(throws: IdentityTokenError.expired) {
            try self.verify(provider.token(["exp": Provider.now]), with: exact)
        }
    }

    @Test func `a token of one container is none of another, unless the operator named an audience`()
        async throws
    {
        let provider = Provider()
        let own = try await provider.tokens()
        #expect(throws: IdentityTokenError.audienceWrong) {
            try own.verify(provider.token(), container: "iCloud.b", nowMilliseconds: Provider.nowMilliseconds)
        }
        let named = try await provider.tokens(audience: "clients")
        #expect(throws: IdentityTokenError.audienceWrong) { try self.verify(provider.token(), with: named) }
        #expect(try self.verify(provider.token(["aud": "clients"]), with: named).subject == "ada")
    }

    @Test func `a token without kid is taken if one key has its algorithm`() async throws {
        let (one, two) = (Provider(), Provider())
        let alone = try await one.tokens()
        let token = try one.token(header: ["kid": NSNull()])
        #expect(try self.verify(token, with: alone).subject == "ada")
        var second = two.publicJWK
        second["kid"] = "two"
        let both = try await one.tokens(keys: [one.publicJWK, second])
        #expect(throws: IdentityTokenError.keyAmbiguous) { try self.verify(token, with: both) }
        #expect(try self.verify(two.token(header: ["kid": "two"]), with: both).subject == "ada")
    }

    @Test func `tokens need the keys that were read last`() async throws {
        let (old, new) = (Provider(), Provider())
        let tokens = try await old.tokens()
        tokens.replaceKeys(try await VerificationKeys(contents: Provider.jwks([new.publicJWK])))
        #expect(throws: IdentityTokenError.signatureWrong) { try self.verify(old.token(), with: tokens) }
        #expect(try self.verify(new.token(), with: tokens).subject == "ada")
    }
}
