import Foundation

/// The times at which requests are due, whether or not the server keeps up: an open loop.
///
/// Latencies count from here. So a server that stalls is charged for all requests that would have
/// come meanwhile.
struct Arrivals: Sendable {
    enum Pattern: String, CaseIterable, Codable, Sendable {
        /// Independent of each other, like the requests of many people.
        case poisson
        /// At equal intervals.
        case uniform
    }

    private let pattern: Pattern
    private let secondsBetween: Double
    private var generator: SplitMix64
    private var seconds = 0.0
    private var count = 0.0

    /// Takes the rate in requests per second, above 0.
    init(_ pattern: Pattern, rate: Double, seed: UInt64) {
        self.pattern = pattern
        self.secondsBetween = 1 / rate
        self.generator = SplitMix64(seed: seed)
    }

    /// The time of the next request after the start; ascends.
    mutating func next() -> Duration {
        switch self.pattern {
        case .uniform:
            // Multiplied, because a million additions would drift.
            defer { self.count += 1 }
            return .seconds(self.count * self.secondsBetween)
        case .poisson:
            self.seconds -= log(1 - self.generator.fraction()) * self.secondsBetween
            return .seconds(self.seconds)
        }
    }
}
