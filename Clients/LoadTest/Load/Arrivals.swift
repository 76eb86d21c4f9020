import Foundation

/// When requests are due, whether or not the server keeps up: an open loop.
///
/// A latency is counted from here, so a server that stalls is charged for everybody who would have come meanwhile.
struct Arrivals: Sendable {
    enum Pattern: String, CaseIterable, Codable, Sendable {
        /// Independent of each other, as those of many people are.
        case poisson
        /// At equal distances.
        case uniform
    }

    private let pattern: Pattern
    private let secondsBetween: Double
    private var generator: SplitMix64
    private var seconds = 0.0
    private var count = 0.0

    /// Takes the rate in requests a second, above 0.
    init(_ pattern: Pattern, rate: Double, seed: UInt64) {
        self.pattern = pattern
        self.secondsBetween = 1 / rate
        self.generator = SplitMix64(seed: seed)
    }

    /// The time of the next request after the start; ascends.
    mutating func next() -> Duration {
        switch self.pattern {
        case .uniform:
            // Multiplied, not added up: a million additions would drift.
            defer { self.count += 1 }
            return .seconds(self.count * self.secondsBetween)
        case .poisson:
            self.seconds -= log(1 - self.generator.fraction()) * self.secondsBetween
            return .seconds(self.seconds)
        }
    }
}
