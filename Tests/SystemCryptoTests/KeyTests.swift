import Crypto
import SystemCrypto
import Testing

/// Keys and signatures against a published one, and against BoringSSL's in swift-crypto.
@Suite
struct KeyTests {
    /// RFC 6979, A.2.5: the key, and the signature of "sample" with SHA-256.
    private static let published = [UInt8](
        hexadecimal: "3059301306072a8648ce3d020106082a8648ce3d030107034200"
            + "0460fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6"
            + "7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299"
    )
    private static let signature = [UInt8](
        hexadecimal: "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716"
            + "f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8"
    )

    // MARK: Signatures

    @Test func `the signature of the RFC is valid, and no change of it is`() throws {
        let key = try #require(P256PublicKey(der: Self.published))
        #expect(key.isValid(Self.signature, of: Array("sample".utf8)))
        #expect(!key.isValid(Self.signature, of: Array("Sample".utf8)))
        for index in Self.signature.indices {
            var changed = Self.signature
            changed[index] ^= 1
            #expect(!key.isValid(changed, of: Array("sample".utf8)), "byte \(index)")
        }
    }

    @Test(
        arguments: [
            [], [0], Array(Self.signature.dropLast()), Self.signature + [0],
            [UInt8](repeating: 0, count: 64), [UInt8](repeating: 0xFF, count: 64),
        ]
    )
    func `what is no signature is not valid`(signature: [UInt8]) throws {
        let key = try #require(P256PublicKey(der: Self.published))
        #expect(!key.isValid(signature, of: Array("sample".utf8)))
    }

    /// Numbers with leading zeros are among so many.
    @Test func `swift-crypto accepts our signatures, and we accept its`() throws {
        let ours = P256PrivateKey()
        let theirs = try P256.Signing.PrivateKey(pemRepresentation: ours.pem)
        #expect(Array(theirs.publicKey.derRepresentation) == ours.publicKey.der)
        for number in 0..<600 {
            let text = Array("text \(number)".utf8)
            let signature = try ours.signature(of: text)
            #expect(signature.count == 64)
            let read = try P256.Signing.ECDSASignature(rawRepresentation: signature)
            #expect(theirs.publicKey.isValidSignature(read, for: text))
            let other = Array(try theirs.signature(for: text).rawRepresentation)
            #expect(ours.publicKey.isValid(other, of: text))
            #expect(!ours.publicKey.isValid(other, of: text + [0]))
        }
    }

    @Test func `an empty text is signed`() throws {
        let key = P256PrivateKey()
        #expect(key.publicKey.isValid(try key.signature(of: []), of: []))
    }

    @Test func `one key signs on many threads`() async throws {
        let key = P256PrivateKey()
        try await withThrowingTaskGroup { group in
            for number in 0..<32 {
                group.addTask {
                    let text = Array("\(number)".utf8)
                    return key.publicKey.isValid(try key.signature(of: text), of: text)
                }
            }
            for try await isValid in group { #expect(isValid) }
        }
    }

    // MARK: Forms of keys

    @Test func `keys that swift-crypto writes are read`() throws {
        for _ in 0..<20 {
            let theirs = P256.Signing.PrivateKey()
            let ours = try #require(P256PrivateKey(pem: theirs.pemRepresentation))
            let der = Array(theirs.publicKey.derRepresentation)
            #expect(ours.publicKey.der == der)
            #expect(P256PublicKey(der: der)?.der == der)
            #expect(P256PublicKey(pem: theirs.publicKey.pemRepresentation)?.der == der)
        }
    }

    @Test func `two keys differ, and a written key is read again`() {
        let (first, second) = (P256PrivateKey(), P256PrivateKey())
        #expect(first.publicKey.der != second.publicKey.der)
        #expect(first.pem.hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
        #expect(P256PrivateKey(pem: first.pem)?.publicKey.der == first.publicKey.der)
    }

    @Test func `a key behind a block of parameters is read`() throws {
        let key = try #require(P256PrivateKey(pem: MadeKeys.behindParameters))
        let text = Array("text".utf8)
        #expect(key.publicKey.isValid(try key.signature(of: text), of: text))
    }

    private static let key = P256.Signing.PrivateKey()

    @Test(
        arguments: [
            "", "key", "-----BEGIN PRIVATE KEY-----", MadeKeys.encrypted, MadeKeys.explicitPrivate,
            Self.key.publicKey.pemRepresentation, String(Self.key.pemRepresentation.dropLast(60)),
            P384.Signing.PrivateKey().pemRepresentation, P521.Signing.PrivateKey().pemRepresentation,
        ]
    )
    func `anything else is no private key`(pem: String) {
        #expect(P256PrivateKey(pem: pem) == nil)
    }

    @Test(
        arguments: [
            "", "key", MadeKeys.explicitPublic, Self.key.pemRepresentation,
            P384.Signing.PrivateKey().publicKey.pemRepresentation,
        ]
    )
    func `anything else is no public key in PEM`(pem: String) {
        #expect(P256PublicKey(pem: pem) == nil)
    }

    @Test func `a point off the curve, a short or a packed one is no public key`() {
        var offCurve = Self.published
        offCurve[90] ^= 1
        #expect(P256PublicKey(der: offCurve) == nil)
        #expect(P256PublicKey(der: []) == nil)
        #expect(P256PublicKey(der: Array(Self.published.dropLast())) == nil)
        #expect(P256PublicKey(der: Self.published + [0]) == nil)
        #expect(P256PublicKey(der: Array(P384.Signing.PrivateKey().publicKey.derRepresentation)) == nil)
        let packed =
            [UInt8](hexadecimal: "3039301306072a8648ce3d020106082a8648ce3d030107032200")
            + Self.key.publicKey.compressedRepresentation
        #expect(P256PublicKey(der: packed) == nil)
    }
}
