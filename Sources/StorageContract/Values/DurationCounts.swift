/// A histogram of durations: counts in fixed buckets, and the sum.
package struct DurationCounts: Hashable, Sendable {
    /// Upper ends of the buckets, inclusive; one more bucket counts longer durations.
    package static let boundsNanoseconds: [Int64] = [
        100_000, 250_000, 500_000,
        1_000_000, 2_500_000, 5_000_000,
        10_000_000, 25_000_000, 50_000_000,
        100_000_000, 250_000_000, 500_000_000,
        1_000_000_000, 2_500_000_000, 10_000_000_000,
    ]

    /// One a bucket; empty if nothing was counted, so that an idle value takes no memory of its own.
    package private(set) var counts: [Int64] = []
    package private(set) var sumNanoseconds: Int64 = 0

    package init() {}

    package init(counts: [Int64], sumNanoseconds: Int64) {
        precondition(counts.count == Self.boundsNanoseconds.count + 1)
        self.counts = counts
        self.sumNanoseconds = sumNanoseconds
    }

    package var count: Int64 { self.counts.reduce(0, +) }

    /// The bucket that takes a duration.
    package static func bucket(of nanoseconds: Int64) -> Int {
        // Most are short: the search from below ends after a few steps.
        var bucket = 0
        while bucket < self.boundsNanoseconds.count, self.boundsNanoseconds[bucket] < nanoseconds {
            bucket += 1
        }
        return bucket
    }

    package mutating func add(nanoseconds: Int64) {
        if self.counts.isEmpty {
            self.counts = Array(repeating: 0, count: Self.boundsNanoseconds.count + 1)
        }
        self.counts[Self.bucket(of: nanoseconds)] += 1
        self.sumNanoseconds += nanoseconds
    }

    /// The durations counted since an earlier moment.
    package func since(_ earlier: DurationCounts) -> DurationCounts {
        guard !earlier.counts.isEmpty, !self.counts.isEmpty else { return self }
        return DurationCounts(
            counts: zip(self.counts, earlier.counts).map { $0 - $1 },
            sumNanoseconds: self.sumNanoseconds - earlier.sumNanoseconds
        )
    }

    /// The upper end of the bucket in which a quantile lies, nanoseconds.
    ///
    /// `nil` if nothing was counted, or beyond the last bound.
    package func quantile(_ fraction: Double) -> Int64? {
        let rank = Int64((Double(self.count) * fraction).rounded(.up))
        var seen: Int64 = 0
        for (count, bound) in zip(self.counts, Self.boundsNanoseconds) {
            seen += count
            if seen >= rank, seen > 0 { return bound }
        }
        return nil
    }
}
