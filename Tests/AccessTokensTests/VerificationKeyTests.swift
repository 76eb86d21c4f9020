import Crypto
import Foundation
import JWTKit
import Testing

@testable import AccessTokens

@Suite struct VerificationKeyTests {
    private func identity(_ token: String?, keys: VerificationKeys) throws -> IdentityTokens.Identity {
        let rules = IdentityTokens.Rules(
            issuer: Provider.issuer,
            audience: nil,
            leewaySeconds: 60,
            createsUsers: false
        )
        return try IdentityTokens(rules: rules, keys: keys).verify(
            try #require(token),
            container: Provider.container,
            nowMilliseconds: Provider.nowMilliseconds
        )
    }

    @Test(
        arguments: [
            "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
        ]
    )
    func `tokens of another implementation are taken, in every algorithm, and no other`(
        name: String
    ) async throws {
        let (foreign, rows) = try ForeignProvider.read()
        let keys = try await VerificationKeys(contents: Provider.jwks(rows))
        let token = try #require(foreign.tokens[name])
        #expect(try self.identity(token, keys: keys).subject == "auth0|ada")
        let parts = token.split(separator: ".")
        let first = parts[2].first == "A" ? "B" : "A"
        let spoilt = "\(parts[0]).\(parts[1]).\(first)\(parts[2].dropFirst())"
        #expect(throws: IdentityTokenError.signatureWrong) { try self.identity(spoilt, keys: keys) }
        // The same key when it says which algorithm it is for.
        let narrowed = rows.map { $0.merging(["alg": name]) { $1 } }
        let only = try await VerificationKeys(contents: Provider.jwks(narrowed))
        #expect(try self.identity(token, keys: only).subject == "auth0|ada")
        for (other, text) in foreign.tokens where other != name {
            #expect(throws: IdentityTokenError.algorithmRefused) { try self.identity(text, keys: only) }
        }
    }

    @Test(arguments: [
        ("RSA", "RS256"), ("RSA", "PS512"), ("P-256", "ES256"), ("P-384", "ES384"), ("P-521", "ES512"),
        ("Ed25519", "EdDSA"),
    ])
    func `public keys in PEM verify tokens of any kid`(key: String, algorithm: String) async throws {
        let foreign = try ForeignProvider.read().provider
        let keys = try await VerificationKeys(contents: try #require(foreign.pem[key]))
        #expect(try self.identity(foreign.tokens[algorithm], keys: keys).subject == "auth0|ada")
        let all = try await VerificationKeys(contents: foreign.pem.values.joined(separator: "\n"))
        #expect(try self.identity(foreign.tokens[algorithm], keys: all).subject == "auth0|ada")
    }

    @Test func `shared secrets and keys for encryption are left out`() async throws {
        let rows = try ForeignProvider.read().keys
        for name in ["shared", "enc", "oaep", "x"] {
            let row = rows.filter { $0["kid"] as? String == name }
            #expect(row.count == 1)
            await #expect(throws: VerificationKeyError.none) {
                try await VerificationKeys(contents: Provider.jwks(row))
            }
        }
    }

    @Test func `a file that cannot be used says why`() async throws {
        let privatePEM = P256.Signing.PrivateKey().pemRepresentation
        var broken = Provider().publicJWK
        broken["x"] = "AA"
        let row = broken
        for (contents, error) in [
            ("", VerificationKeyError.none), (" \n", .none), ("{}", .unreadable), ("[]", .unreadable),
            (privatePEM, .secret),
            ("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", .unusable("PEM 1")),
            (try Provider.jwks([row]), .unusable("one")),
            (String(repeating: " ", count: VerificationKeys.bytesMax + 1), .tooMany),
            (try Provider.jwks(Array(repeating: Provider().publicJWK, count: 65)), .tooMany),
        ] {
            await #expect(throws: error) { try await VerificationKeys(contents: contents) }
        }
    }

    @Test func `a key set without keys can be read, and no token is signed with one of it`() async throws {
        let keys = try await VerificationKeys(contents: #"{"keys":[]}"#)
        #expect(keys.isEmpty)
        #expect(throws: IdentityTokenError.algorithmRefused) {
            try self.identity(Provider().token(), keys: keys)
        }
    }

    @Test func `the private part of a key that was given by mistake is not taken over`() async throws {
        let provider = Provider()
        var row = provider.publicJWK
        row["d"] = Provider.base64(provider.key.rawRepresentation)
        let keys = try await VerificationKeys(contents: Provider.jwks([row]))
        #expect(throws: (any Error).self) {
            for key in try keys.matching(CompactToken(provider.token()).header) {
                _ = try key.algorithm.sign(Data("x".utf8))
            }
        }
    }
}
