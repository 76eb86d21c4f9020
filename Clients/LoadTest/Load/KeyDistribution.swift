import Foundation

/// How often each key is used.
struct KeyDistribution: Sendable {
    enum Shape: String, CaseIterable, Codable, Sendable {
        case uniform
        /// A few keys are used most: the key of rank r as often as 1/r^0.99. Keys of neighbouring
        /// ranks are far apart.
        case zipfian
        /// The same, counted back from the key that was saved last. Saves go through all keys in
        /// turn.
        case latest
    }

    let shape: Shape
    let count: Int
    private let zipf: Zipf?
    /// For `latest`: number of saves so far.
    private var saves = 0

    /// Takes the number of keys, at least 1.
    init(_ shape: Shape, count: Int) {
        self.shape = shape
        self.count = count
        self.zipf = shape == .uniform ? nil : Zipf(count: count)
    }

    /// A key to read, from 0.
    func read(using generator: inout SplitMix64) -> Int {
        guard let zipf else { return Int.random(in: 0..<self.count, using: &generator) }
        let rank = zipf.rank(generator.fraction())
        switch self.shape {
        case .uniform, .zipfian: return self.scattered(rank)
        case .latest:
            let last = max(0, self.saves - 1) % self.count
            return (last - rank + self.count) % self.count
        }
    }

    /// A key to write, from 0.
    mutating func write(using generator: inout SplitMix64) -> Int {
        guard self.shape == .latest else { return self.read(using: &generator) }
        defer { self.saves += 1 }
        return self.saves % self.count
    }

    /// A permutation of the ranks.
    private func scattered(_ rank: Int) -> Int {
        // The prime is above any number of keys, and so coprime to it.
        Int(UInt64(rank) * 4_294_967_291 % UInt64(self.count))
    }
}

/// Ranks from 0, by Zipf's law with an exponent of 0.99.
///
/// - Source: Gray et al., "Quickly Generating Billion-Record Synthetic Databases", SIGMOD 1994; the
///   exponent is that of YCSB.
private struct Zipf: Sendable {
    private static let exponent = 0.99

    private let count: Double
    private let zeta: Double
    private let alpha = 1 / (1 - exponent)
    private let eta: Double

    init(count: Int) {
        self.count = Double(count)
        self.zeta = (1...count).reduce(0) { $0 + 1 / pow(Double($1), Self.exponent) }
        let zetaOfTwo = 1 + 1 / pow(2, Self.exponent)
        self.eta =
            count > 2 ? (1 - pow(2 / Double(count), 1 - Self.exponent)) / (1 - zetaOfTwo / self.zeta) : 0
    }

    /// The rank for a fraction in 0..<1.
    func rank(_ fraction: Double) -> Int {
        let scaled = fraction * self.zeta
        if scaled < 1 { return 0 }
        if scaled < 1 + pow(0.5, Self.exponent) { return min(1, Int(self.count) - 1) }
        let rank = self.count * pow(self.eta * fraction - self.eta + 1, self.alpha)
        return min(Int(rank), Int(self.count) - 1)
    }
}
