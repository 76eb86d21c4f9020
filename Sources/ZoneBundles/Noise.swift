/// Numbers that depend on a key and on absorbed values: SipHash-2-4, unpredictable without the key.
///
/// - Source: Aumasson and Bernstein, *SipHash: a fast short-input PRF*, 2012.
struct Noise {
    private var v0: UInt64
    private var v1: UInt64
    private var v2: UInt64
    private var v3: UInt64

    init(_ key: ScrambleKey, _ domain: UInt64) {
        self.v0 = key.low ^ 0x736f_6d65_7073_6575
        self.v1 = key.high ^ 0x646f_7261_6e64_6f6d
        self.v2 = key.low ^ 0x6c79_6765_6e65_7261
        self.v3 = key.high ^ 0x7465_6462_7974_6573
        self.absorb(domain)
    }

    mutating func absorb(_ word: UInt64) {
        self.v3 ^= word
        self.round()
        self.round()
        self.v0 ^= word
    }

    mutating func absorb(_ bytes: [UInt8]) {
        self.absorb(UInt64(bytes.count))
        var word: UInt64 = 0
        for (index, byte) in bytes.enumerated() {
            word |= UInt64(byte) << UInt64(8 * (index % 8))
            if index % 8 == 7 {
                self.absorb(word)
                word = 0
            }
        }
        self.absorb(word)
    }

    /// The number for the values absorbed so far.
    var value: UInt64 {
        var end = self
        end.v2 ^= 0xFF
        for _ in 0..<4 { end.round() }
        return end.v0 ^ end.v1 ^ end.v2 ^ end.v3
    }

    /// The given number of bytes from an offset on, which is a multiple of 8.
    func bytes(_ count: Int, at offset: Int64 = 0) -> [UInt8] {
        var generator = self.value &+ UInt64(offset / 8) &* 0x9E37_79B9_7F4A_7C15
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 7)
        while bytes.count < count {
            generator &+= 0x9E37_79B9_7F4A_7C15
            var word = (generator ^ generator >> 30) &* 0xBF58_476D_1CE4_E5B9
            word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
            word ^= word >> 31
            for shift in stride(from: UInt64(0), to: 64, by: 8) {
                bytes.append(UInt8(truncatingIfNeeded: word >> shift))
            }
        }
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    private mutating func round() {
        func rotate(_ word: UInt64, _ count: UInt64) -> UInt64 { word << count | word >> (64 - count) }
        self.v0 = self.v0 &+ self.v1
        self.v1 = rotate(self.v1, 13) ^ self.v0
        self.v0 = rotate(self.v0, 32)
        self.v2 = self.v2 &+ self.v3
        self.v3 = rotate(self.v3, 16) ^ self.v2
        self.v0 = self.v0 &+ self.v3
        self.v3 = rotate(self.v3, 21) ^ self.v0
        self.v2 = self.v2 &+ self.v1
        self.v1 = rotate(self.v1, 17) ^ self.v2
        self.v2 = rotate(self.v2, 32)
    }
}

/// The secret of one scrambling, which is never stored.
package struct ScrambleKey: Hashable, Sendable {
    let low: UInt64
    let high: UInt64

    package init(using generator: inout some RandomNumberGenerator) {
        self.low = generator.next()
        self.high = generator.next()
    }
}
