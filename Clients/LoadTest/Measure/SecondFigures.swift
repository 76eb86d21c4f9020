import Histogram

/// The results of one kind of request in one second of a run.
struct SecondFigures: Codable, Sendable {
    /// Used only for its bucket borders.
    ///
    /// Two digits are enough for a chart, and a second uses few of the buckets.
    private static let borders = Histogram<UInt32>(
        highestTrackableValue: LatencyHistogram.microsecondsMax,
        numberOfSignificantValueDigits: .two
    )

    private(set) var answers = 0
    private(set) var failures = 0
    /// The count of each bucket, by its highest latency in microseconds.
    private var counts: [UInt64: Int] = [:]
    private(set) var maxMicroseconds: UInt64 = 0

    mutating func answered(_ latency: Duration) {
        let microseconds = min(latency.microseconds, LatencyHistogram.microsecondsMax)
        self.answers += 1
        self.counts[Self.borders.highestEquivalentForValue(microseconds), default: 0] += 1
        self.maxMicroseconds = max(self.maxMicroseconds, microseconds)
    }

    mutating func failed() { self.failures += 1 }

    mutating func add(_ other: SecondFigures) {
        self.answers += other.answers
        self.failures += other.failures
        self.counts.merge(other.counts, uniquingKeysWith: +)
        self.maxMicroseconds = max(self.maxMicroseconds, other.maxMicroseconds)
    }

    /// Milliseconds, for each of the percents in ascending order.
    func percentiles(_ percents: [Double]) -> [Double] {
        let ordered = self.counts.sorted { $0.key < $1.key }
        var seen = 0
        var index = ordered.startIndex
        return percents.map { percent in
            let wanted = max(1, Int((Double(self.answers) * percent / 100).rounded(.up)))
            while index < ordered.endIndex, seen + ordered[index].value < wanted {
                seen += ordered[index].value
                index += 1
            }
            guard index < ordered.endIndex else { return 0 }
            return Double(min(ordered[index].key, self.maxMicroseconds)) / 1_000
        }
    }
}
