/// A small generator that repeats its numbers for a seed.
struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) { self.state = seed }

    mutating func next() -> UInt64 {
        self.state &+= 0x9E37_79B9_7F4A_7C15
        return Self.mix(self.state)
    }

    /// Spreads neighbouring numbers over all 64 bits.
    ///
    /// A pure function.
    static func mix(_ number: UInt64) -> UInt64 {
        var mixed = number
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    /// A number in 0..<1.
    mutating func fraction() -> Double { Double(self.next() >> 11) / 9_007_199_254_740_992 }
}
