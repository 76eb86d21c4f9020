import RecordModel
import SystemCrypto
import WireProtocol

/// The private key of a service: ECDSA on P-256.
package struct SigningKey: Sendable {
    /// SHA-256 of the public key in DER, as 64 lower-case hexadecimal digits; the server knows the
    /// key by it.
    package let keyID: String
    private let key: P256PrivateKey

    /// Reads a key in PEM, as `tidemark key add` or openssl wrote it.
    ///
    /// - Returns: `nil` for anything but a private key on that curve.
    package init?(pem: String) {
        guard let key = P256PrivateKey(pem: pem) else { return nil }
        self.key = key
        let digits = Array("0123456789abcdef")
        self.keyID = SHA256.hash(key.publicKey.der).reduce(into: "") { text, byte in
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 0xF)])
        }
    }

    /// Signs for one connection.
    ///
    /// - Parameters:
    ///   - nonce: The server's.
    ///   - certificate: What the server showed, in DER.
    ///   - hello: What was said to it.
    ///   - name: The key's name in it.
    /// - Returns: The frame's contents.
    /// - Throws: What the library says of a key that does not sign.
    func proof(
        nonce: [UInt8],
        certificate: [UInt8],
        hello: Hello,
        name: ServiceKeyName
    ) throws(CryptoFailure) -> Proof {
        let text = ProofText.bytes(
            nonce: nonce,
            certificateHash: SHA256.hash(certificate),
            environment: hello.environment,
            container: hello.container,
            key: name
        )
        return Proof(signature: try self.key.signature(of: text))
    }
}
