import Metrics
import Synchronization

/// A number that grows.
final class CountInstrument: CounterHandler, Instrument {
    private let count = Atomic<Int64>(0)

    func increment(by amount: Int64) {
        self.count.wrappingAdd(amount, ordering: .relaxed)
    }

    func reset() {
        self.count.store(0, ordering: .relaxed)
    }

    var reading: String? {
        let count = self.count.load(ordering: .relaxed)
        return count == 0 ? nil : "\(count)"
    }

    var exposition: Exposition? {
        self.reading.map { Exposition(type: "counter", samples: [Exposition.Sample(value: $0)]) }
    }
}

/// A number that goes up and down.
final class LevelInstrument: MeterHandler, FloatingPointCounterHandler, Instrument {
    private let level = Mutex<Double?>(nil)

    func set(_ value: Int64) { self.set(Double(value)) }

    func set(_ value: Double) { self.level.withLock { $0 = value } }

    func increment(by amount: Double) { self.level.withLock { $0 = ($0 ?? 0) + amount } }

    func decrement(by amount: Double) { self.increment(by: -amount) }

    func reset() { self.level.withLock { $0 = nil } }

    var reading: String? {
        guard let level = self.level.withLock({ $0 }) else { return nil }
        return Int64(exactly: level).map { "\($0)" } ?? "\(level)"
    }

    var exposition: Exposition? {
        self.reading.map { Exposition(type: "gauge", samples: [Exposition.Sample(value: $0)]) }
    }
}

/// Values in buckets of powers of two: percentiles are right within a factor of two, in 64 numbers.
final class DistributionInstrument: RecorderHandler, TimerHandler, Instrument {
    struct State: Sendable {
        var count: Int64 = 0
        var largest: Int64 = 0
        var sum = 0.0
        var buckets = [Int64](repeating: 0, count: 64)

        mutating func record(_ value: Int64) {
            let value = max(0, value)
            self.count += 1
            self.sum += Double(value)
            self.largest = max(self.largest, value)
            self.buckets[min(63, 64 - value.leadingZeroBitCount)] += 1
        }

        /// The upper end of the bucket in which the percentile lies, at most the largest value.
        func percentile(_ fraction: Double) -> Int64 {
            let rank = Int64((Double(self.count) * fraction).rounded(.up))
            var seen: Int64 = 0
            for (index, bucket) in self.buckets.enumerated() {
                seen += bucket
                if seen >= rank { return index == 63 ? self.largest : min(self.largest, 1 << index - 1) }
            }
            return self.largest
        }
    }

    private let state = Mutex(State())

    func record(_ value: Int64) { self.state.withLock { $0.record(value) } }

    func record(_ value: Double) { self.record(Int64(exactly: value.rounded()) ?? .max) }

    func recordNanoseconds(_ duration: Int64) { self.record(duration) }

    var reading: String? {
        let state = self.state.withLock { $0 }
        guard state.count > 0 else { return nil }
        return
            "count=\(state.count) p50=\(state.percentile(0.5)) p99=\(state.percentile(0.99)) max=\(state.largest)"
    }

    var exposition: Exposition? {
        let state = self.state.withLock { $0 }
        guard state.count > 0 else { return nil }
        let quantiles = [0.5, 0.99].map { quantile in
            Exposition.Sample(label: "quantile=\"\(quantile)\"", value: "\(state.percentile(quantile))")
        }
        let totals = [
            Exposition.Sample(suffix: "_sum", value: "\(state.sum)"),
            Exposition.Sample(suffix: "_count", value: "\(state.count)"),
        ]
        return Exposition(type: "summary", samples: quantiles + totals)
    }
}
