/// Message authentication codes with one key: HMAC (RFC 2104) with SHA-256.
///
///     code = SHA-256((key ^ 5c…) SHA-256((key ^ 36…) bytes))
package struct HMACSHA256: Sendable {
    private static let blockBytes = 64

    /// Both hashes after the key, which costs more to compute than a short text.
    private var inner = SHA256()
    private var outer = SHA256()

    package init(key: [UInt8]) {
        let short = key.count > Self.blockBytes ? SHA256.hash(key) : key
        let block = short + [UInt8](repeating: 0, count: Self.blockBytes - short.count)
        self.inner.add(block.map { $0 ^ 0x36 })
        self.outer.add(block.map { $0 ^ 0x5C })
    }

    /// Returns the code of some bytes; compare it with `ConstantTime`.
    package func code(of bytes: [UInt8]) -> [UInt8] {
        var (inner, outer) = (self.inner, self.outer)
        inner.add(bytes)
        outer.add(inner.value)
        return outer.value
    }
}
