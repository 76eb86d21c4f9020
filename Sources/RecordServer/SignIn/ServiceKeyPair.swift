import SystemCrypto

/// The key of a service: ECDSA on P-256.
package struct ServiceKeyPair: Sendable {
    /// SHA-256 of the public key in DER, in 64 lower-case hexadecimal digits.
    package let keyID: String
    /// SubjectPublicKeyInfo in DER.
    package let publicKey: [UInt8]
    /// PKCS #8 in PEM; `nil` if only the public key is known.
    package let privatePEM: String?

    /// Makes a new pair.
    package init() {
        let key = P256PrivateKey()
        self.init(key.publicKey, privatePEM: key.pem)
    }

    /// Reads a public key in PEM.
    ///
    /// - Returns: `nil` for anything else, a private key included.
    package init?(publicPEM: String) {
        guard let key = P256PublicKey(pem: publicPEM) else { return nil }
        self.init(key, privatePEM: nil)
    }

    private init(_ key: P256PublicKey, privatePEM: String?) {
        self.publicKey = key.der
        let digits = Array("0123456789abcdef")
        self.keyID = SHA256.hash(self.publicKey).reduce(into: "") { text, byte in
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 0xF)])
        }
        self.privatePEM = privatePEM
    }
}
