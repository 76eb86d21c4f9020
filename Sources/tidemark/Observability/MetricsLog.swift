import Logging
import RecordServer
import ServiceLifecycle
import StorageContract

/// Logs the metrics that changed since the last time, at an interval and once more at the end.
///
/// Nothing is logged if nothing was counted.
struct MetricsLog: Service {
    let read: @Sendable () -> [Metric]
    let interval: Duration
    let level: Logger.Level
    let logger: Logger

    func run() async throws {
        var last = self.read()
        for await _ in AsyncTicks(interval: self.interval).cancelOnGracefulShutdown() {
            last = self.write(since: last)
        }
        _ = self.write(since: last)
    }

    private func write(since last: [Metric]) -> [Metric] {
        let now = self.read()
        let metadata = MetricsDifference(from: last, to: now).metadata
        if !metadata.isEmpty { self.logger.log(level: self.level, "metrics", metadata: metadata) }
        return now
    }
}

/// The difference between the metrics of two moments.
struct MetricsDifference {
    /// The increase of counters, p99 of durations, and current gauges.
    ///
    /// Empty if no counter grew.
    private(set) var metadata: Logger.Metadata = [:]

    init(from last: [Metric], to now: [Metric]) {
        let earlier = Dictionary(last.flatMap(Self.values), uniquingKeysWith: { $1 })
        var gauges: Logger.Metadata = [:]
        for metric in now {
            for (key, value) in Self.values(of: metric) {
                switch (metric.name.kind, value, earlier[key]) {
                case (.counter, .number(let count), let before):
                    let past: Double = if case .number(let past) = before { past } else { 0 }
                    if count > past { self.metadata[key] = Self.number(count - past) }
                case (_, .durations(let durations), let before):
                    let new =
                        if case .durations(let past) = before { durations.since(past) } else { durations }
                    guard new.count > 0 else { continue }
                    let p99 =
                        new.quantile(0.99).map { .stringConvertible(Double($0) / 1e9) } ?? "+Inf"
                        as Logger.MetadataValue
                    gauges[key + ".p99"] = p99
                case (_, .number(let level), _):
                    if level != 0 { gauges[key] = Self.number(level) }
                }
            }
        }
        guard !self.metadata.isEmpty else { return }
        self.metadata.merge(gauges) { $1 }
    }

    private static func number(_ value: Double) -> Logger.MetadataValue {
        Int64(exactly: value).map { .stringConvertible($0) } ?? .stringConvertible(value)
    }

    /// Values by name without the common prefix, such as `requests.modify_records`.
    private static func values(of metric: Metric) -> [(String, Metric.Value)] {
        var name = metric.name.rawValue[...]
        if name.hasPrefix("tidemark_") { name = name.dropFirst("tidemark_".count) }
        if name.hasSuffix("_total") { name = name.dropLast("_total".count) }
        return metric.samples.map { sample in
            (([String(name)] + sample.labels.map(\.value)).joined(separator: "."), sample.value)
        }
    }
}

/// An element after each interval, until the task is cancelled.
struct AsyncTicks: AsyncSequence, AsyncIteratorProtocol, Sendable {
    let interval: Duration

    func makeAsyncIterator() -> AsyncTicks { self }

    func next() async -> Void? {
        do {
            try await Task.sleep(for: self.interval)
            return ()
        } catch {
            return nil
        }
    }
}
