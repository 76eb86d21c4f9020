import Histogram

/// Latencies up to an hour in microseconds, each with three significant digits.
struct LatencyHistogram: Sendable {
    static let microsecondsMax: UInt64 = 3_600_000_000

    private var histogram = Histogram<UInt64>(highestTrackableValue: microsecondsMax)

    var count: UInt64 { self.histogram.totalCount }
    var meanMilliseconds: Double { self.count == 0 ? 0 : self.histogram.mean / 1_000 }
    var maxMilliseconds: Double { self.count == 0 ? 0 : Double(self.histogram.max) / 1_000 }

    mutating func record(_ latency: Duration) {
        self.histogram.record(min(latency.microseconds, Self.microsecondsMax))
    }

    mutating func add(_ other: LatencyHistogram) { self.histogram.add(other.histogram) }

    /// The percentile in milliseconds.
    func percentile(_ percent: Double) -> Double {
        guard self.count > 0 else { return 0 }
        return Double(min(self.histogram.valueAtPercentile(percent), self.histogram.max)) / 1_000
    }

    /// The recorded latencies in microseconds, ascending, with their counts.
    var recorded: [(microseconds: UInt64, count: UInt64)] {
        self.histogram.recordedValues().map { ($0.value, $0.count) }
    }
}

extension LatencyHistogram: Codable {
    private enum CodingKeys: String, CodingKey {
        case microseconds, counts
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let values = try container.decode([UInt64].self, forKey: .microseconds)
        let counts = try container.decode([UInt64].self, forKey: .counts)
        guard values.count == counts.count else {
            throw DecodingError.dataCorruptedError(
                forKey: .counts,
                in: container,
                debugDescription: "as many as values"
            )
        }
        self.init()
        for (value, count) in zip(values, counts) {
            self.histogram.record(min(value, Self.microsecondsMax), count: count)
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        let recorded = self.recorded
        try container.encode(recorded.map(\.microseconds), forKey: .microseconds)
        try container.encode(recorded.map(\.count), forKey: .counts)
    }
}

extension Duration {
    /// 0 for a negative duration.
    var microseconds: UInt64 {
        UInt64(
            clamping: self.components.seconds * 1_000_000 + self.components.attoseconds / 1_000_000_000_000
        )
    }

    var milliseconds: Double { self.seconds * 1_000 }

    var seconds: Double {
        Double(self.components.seconds) + Double(self.components.attoseconds) / 1e18
    }
}
