import SystemCrypto

/// A user's credential: 32 random bytes, shown once, and stored by the server only as a hash.
package struct AccessToken: Sendable {
    static let prefix = "tmk_"

    /// A prefix, by which scanners for leaked secrets find it, and the bytes in base64url without
    /// padding.
    ///
    /// It has 47 characters and needs no quoting anywhere.
    package let text: String

    /// Makes a new token from the system's random numbers.
    package init() {
        var random = SystemRandomNumberGenerator()
        let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        self.text = Self.prefix + Self.base64URL(bytes)
    }

    /// The hash that the directory stores: SHA-256 of the text.
    ///
    /// The token has 256 random bits, so a slow hash is not needed.
    package var hash: [UInt8] { SHA256.hash(self.text) }

    private static func base64URL(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        var characters: [UInt8] = []
        var bits: UInt32 = 0
        var bitCount = 0
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            bitCount += 8
            while bitCount >= 6 {
                bitCount -= 6
                characters.append(alphabet[Int(bits >> bitCount & 0x3F)])
            }
        }
        if bitCount > 0 { characters.append(alphabet[Int(bits << (6 - bitCount) & 0x3F)]) }
        return String(decoding: characters, as: UTF8.self)
    }
}
