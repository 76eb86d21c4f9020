import CLibCrypto

/// A public key of ECDSA on the curve P-256.
package struct P256PublicKey: Sendable {
    /// SubjectPublicKeyInfo in DER.
    ///
    /// A key has one such form here: the curve by its name, the point uncompressed.
    ///
    ///     30 59  30 13  06 07 id-ecPublicKey  06 08 prime256v1  03 42 00  04 x y
    package let der: [UInt8]
    private let key: KeyReference

    private static let derBytes = 91
    private static let derHead: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A,
        0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
    ]

    /// Reads a key in the form of `der`.
    ///
    /// - Returns: `nil` for anything else, a point that is not on the curve included.
    package init?(der: [UInt8]) {
        guard Self.isForm(der), let key = KeyReference(publicDER: der) else { return nil }
        self.der = der
        self.key = key
    }

    /// Reads a key in PEM.
    ///
    /// - Returns: `nil` for anything else, a private key included.
    package init?(pem: String) {
        guard let key = KeyReference(publicPEM: pem) else { return nil }
        self.init(of: key)
    }

    /// - Returns: `nil` for a key on another curve, or of another kind.
    fileprivate init?(of key: KeyReference) {
        guard let der = key.publicDER(bytes: Self.derBytes), Self.isForm(der) else { return nil }
        self.der = der
        self.key = key
    }

    private static func isForm(_ der: [UInt8]) -> Bool {
        der.count == Self.derBytes && der.starts(with: Self.derHead)
    }

    /// Whether the owner of the private key made this signature of these bytes.
    ///
    /// `signature` has the form that `P256PrivateKey.signature(of:)` returns.
    package func isValid(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
        defer { ERR_clear_error() }
        guard let der = ECDSASignature(raw: signature)?.der, let context = SigningContext(),
            EVP_DigestVerifyInit(context.pointer, nil, LibCrypto.sha256, nil, self.key.pointer) == 1
        else { return false }
        return EVP_DigestVerify(context.pointer, der, der.count, bytes, bytes.count) == 1
    }

    /// A signature in DER, in the form that `isValid` takes; `nil` for other bytes.
    package static func signature(der: [UInt8]) -> [UInt8]? {
        defer { ERR_clear_error() }
        return ECDSASignature(der: der)?.raw
    }
}

/// A private key of ECDSA on the curve P-256.
package struct P256PrivateKey: Sendable {
    package let publicKey: P256PublicKey
    private let key: KeyReference

    /// Makes a key.
    ///
    /// The process ends if there are no random numbers, as it does when Swift's generator finds none.
    package init() {
        guard let key = KeyReference.made(), let publicKey = P256PublicKey(of: key) else {
            preconditionFailure("no key was made: \(CryptoFailure().reason)")
        }
        self.key = key
        self.publicKey = publicKey
    }

    /// Reads a key in PEM: PKCS #8, or the form of SEC 1.
    ///
    /// - Returns: `nil` for anything else, an encrypted key included.
    package init?(pem: String) {
        guard let key = KeyReference(privatePEM: pem), let publicKey = P256PublicKey(of: key) else {
            return nil
        }
        self.key = key
        self.publicKey = publicKey
    }

    /// The key as PKCS #8 in PEM, not encrypted.
    package var pem: String {
        guard let pem = self.key.privatePEM() else {
            preconditionFailure("a key was not written: \(CryptoFailure().reason)")
        }
        return pem
    }

    /// Signs bytes with ECDSA and SHA-256.
    ///
    /// - Returns: The two numbers of the signature, 32 bytes each.
    package func signature(of bytes: [UInt8]) throws(CryptoFailure) -> [UInt8] {
        guard let context = SigningContext(),
            EVP_DigestSignInit(context.pointer, nil, LibCrypto.sha256, nil, self.key.pointer) == 1
        else { throw CryptoFailure() }
        var count = Int(EVP_PKEY_get_size(self.key.pointer))
        var der = [UInt8](repeating: 0, count: count)
        guard EVP_DigestSign(context.pointer, &der, &count, bytes, bytes.count) == 1,
            let raw = ECDSASignature(der: Array(der.prefix(count)))?.raw
        else { throw CryptoFailure() }
        return raw
    }
}
