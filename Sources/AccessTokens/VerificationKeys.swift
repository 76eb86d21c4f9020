import Foundation
import JWTKit

/// The public keys of an identity provider.
///
/// They come from a JSON Web Key Set or from public keys in PEM. Keys of a set that do not verify
/// signatures are left out.
package struct VerificationKeys: Sendable {
    struct Key: Sendable {
        /// `nil` for a key from PEM, which verifies tokens with any `kid`.
        let id: String?
        let algorithm: any JWTAlgorithm
    }

    package static let bytesMax = 1_024 * 1_024
    /// A token without a `kid` costs one signature check per key.
    private static let keysMax = 64

    /// An empty set, which verifies no token.
    package static let none = VerificationKeys(keys: [])

    private let keys: [Key]

    package var isEmpty: Bool { self.keys.isEmpty }

    private init(keys: [Key]) {
        self.keys = keys
    }

    /// Reads the contents of a file.
    ///
    /// The set is empty if the file is an empty key set.
    package init(contents: String) async throws(VerificationKeyError) {
        guard contents.utf8.count <= Self.bytesMax else { throw .tooMany }
        guard contents.contains(where: { !$0.isWhitespace }) else { throw .none }
        let keys =
            contents.contains("-----BEGIN ") ? try await Self.pem(contents) : try await Self.jwks(contents)
        guard keys.count <= Self.keysMax else { throw .tooMany }
        self.keys = keys
    }

    /// The keys that a token may be signed with.
    ///
    /// The key determines its algorithm. A token that names another one finds no key.
    func matching(_ header: CompactToken.Header) throws(IdentityTokenError) -> [Key] {
        let fitting = self.keys.filter { $0.algorithm.name == header.algorithm }
        guard !fitting.isEmpty else { throw .algorithmRefused }
        guard let id = header.keyID else {
            guard fitting.count == 1 else { throw .keyAmbiguous }
            return fitting
        }
        let named = fitting.filter { $0.id == id }
        if !named.isEmpty { return named }
        let unnamed = fitting.filter { $0.id == nil }
        guard !unnamed.isEmpty else { throw .keyUnknown }
        return unnamed
    }

    // MARK: - JSON Web Key Sets

    private static let rsaAlgorithms = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"]
    private static let curveAlgorithms = ["P-256": "ES256", "P-384": "ES384", "P-521": "ES512"]
    /// The members of a public key.
    ///
    /// Private members are not copied.
    private static let publicMembers = ["kty", "crv", "n", "e", "x", "y"]

    private static func jwks(_ contents: String) async throws(VerificationKeyError) -> [Key] {
        guard let object = try? JSONSerialization.jsonObject(with: Data(contents.utf8)) as? [String: Any],
            let rows = object["keys"] as? [[String: Any]]
        else { throw .unreadable }
        var keys: [Key] = []
        for row in rows {
            for algorithm in self.algorithms(of: row) {
                let id = row["kid"] as? String
                keys.append(Key(id: id, algorithm: try await self.algorithm(algorithm, of: row)))
            }
        }
        guard !keys.isEmpty || rows.isEmpty else { throw .none }
        return keys
    }

    /// Empty for a key that is not for verifying signatures, and for kinds that are not accepted,
    /// such as shared secrets.
    private static func algorithms(of row: [String: Any]) -> [String] {
        if let use = row["use"] as? String, use != "sig" { return [] }
        let permitted: [String]
        switch row["kty"] as? String {
        case "RSA": permitted = self.rsaAlgorithms
        case "EC": permitted = (row["crv"] as? String).flatMap { self.curveAlgorithms[$0] }.map { [$0] } ?? []
        case "OKP": permitted = row["crv"] as? String == "Ed25519" ? ["EdDSA"] : []
        default: permitted = []
        }
        guard let algorithm = row["alg"] as? String else { return permitted }
        return permitted.filter { $0 == algorithm }
    }

    private static func algorithm(
        _ name: String,
        of row: [String: Any]
    ) async throws(VerificationKeyError) -> any JWTAlgorithm {
        var members = row.filter { self.publicMembers.contains($0.key) }
        members["alg"] = name
        members["kid"] = "key"
        do {
            let json = try JSONSerialization.data(withJSONObject: members)
            let collection = JWTKeyCollection()
            try await collection.add(jwk: JWK(json: String(decoding: json, as: UTF8.self)))
            return try await collection.getKey(for: "key", alg: name)
        } catch {
            throw .unusable(row["kid"] as? String ?? "without kid")
        }
    }

    // MARK: - PEM

    private static func pem(_ contents: String) async throws(VerificationKeyError) -> [Key] {
        guard !contents.contains("PRIVATE KEY-----") else { throw .secret }
        var keys: [Key] = []
        for part in contents.components(separatedBy: "-----BEGIN ").dropFirst() {
            let algorithms = await self.algorithms(ofPEM: "-----BEGIN " + part)
            guard !algorithms.isEmpty else { throw .unusable("PEM \(keys.count + 1)") }
            keys += algorithms.map { Key(id: nil, algorithm: $0) }
        }
        return keys
    }

    private static func algorithms(ofPEM pem: String) async -> [any JWTAlgorithm] {
        let collection = JWTKeyCollection()
        if let key = try? ES256PublicKey(pem: pem) {
            await collection.add(ecdsa: key)
        } else if let key = try? ES384PublicKey(pem: pem) {
            await collection.add(ecdsa: key)
        } else if let key = try? ES512PublicKey(pem: pem) {
            await collection.add(ecdsa: key)
        } else if let key = try? EdDSA.PublicKey(pem: pem) {
            await collection.add(eddsa: key)
        } else if let key = try? Insecure.RSA.PublicKey(pem: pem) {
            return await self.algorithms(of: key)
        }
        return (try? await collection.getKey()).map { [$0] } ?? []
    }

    private static func algorithms(of key: Insecure.RSA.PublicKey) async -> [any JWTAlgorithm] {
        var algorithms: [any JWTAlgorithm] = []
        for digest in [DigestAlgorithm.sha256, .sha384, .sha512] {
            let pkcs1 = JWTKeyCollection()
            await pkcs1.add(rsa: key, digestAlgorithm: digest)
            let pss = JWTKeyCollection()
            await pss.add(pss: key, digestAlgorithm: digest)
            for collection in [pkcs1, pss] {
                if let algorithm = try? await collection.getKey() { algorithms.append(algorithm) }
            }
        }
        return algorithms
    }
}

/// Why a file of keys cannot be used.
package enum VerificationKeyError: Error, Hashable, Sendable {
    /// Neither JSON with a list of keys, nor PEM.
    case unreadable
    /// A key, by its name, with content that does not match its declaration.
    case unusable(String)
    /// The file is empty, or none of its keys verifies signatures.
    case none
    /// A private key in PEM. It must not be in this file.
    case secret
    case tooMany
}
