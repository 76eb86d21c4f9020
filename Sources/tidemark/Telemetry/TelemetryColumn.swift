import RecordModel
import RecordServer
import StorageContract

/// A figure of each sample: a metric, or a part of one.
struct TelemetryColumn: Hashable, Sendable {
    /// How the figures of two samples become one.
    enum Merging: Hashable, Sendable {
        /// The counts of both together.
        case sum
        case highest
        /// The later one, of what changes slowly.
        case last
    }

    /// The name of the metric with the value of its label, such as
    /// `tidemark_requests_total modify_records`.
    ///
    /// A file names its columns, so that another version finds those that it knows.
    let name: String
    let merging: Merging

    /// The columns of this version, in the order of a sample's figures.
    static let all: [TelemetryColumn] = MetricName.allCases.flatMap { Self.columns(of: $0) }

    static let offsets = Dictionary(uniqueKeysWithValues: Self.all.enumerated().map { ($1.name, $0) })

    /// When a sample ended, in seconds since 1970.
    static let written = Self.name(.metricsWritten)

    static func name(_ metric: MetricName, _ label: String? = nil) -> String {
        label.map { "\(metric.rawValue) \($0)" } ?? metric.rawValue
    }

    /// The columns of a histogram: how often something took no longer than each bound.
    static func buckets(_ metric: MetricName, _ label: String? = nil) -> [String] {
        (0...DurationCounts.boundsNanoseconds.count).map { "\(self.name(metric, label)) #\($0)" }
    }

    /// Errors without a name in the registry.
    static let otherError = "other"

    static let errorNames =
        ErrorCode.names.sorted { $0.key.rawValue < $1.key.rawValue }.map(\.value) + [Self.otherError]

    private static func columns(of metric: MetricName) -> [TelemetryColumn] {
        switch metric {
        // They say nothing over time.
        case .buildInfo, .certificateEnd: []
        case .requests: self.columns(metric, OperationKind.allCases.map(\.rawValue))
        case .failures: self.columns(metric, self.errorNames)
        case .requestDuration:
            (self.buckets(metric) + self.buckets(metric, OperationKind.modifyRecords.rawValue)).map {
                TelemetryColumn(name: $0, merging: .sum)
            }
        case .logSyncDuration: self.buckets(metric).map { TelemetryColumn(name: $0, merging: .sum) }
        default: [TelemetryColumn(name: metric.rawValue, merging: self.merging(of: metric))]
        }
    }

    private static func columns(_ metric: MetricName, _ labels: [String]) -> [TelemetryColumn] {
        labels.map { TelemetryColumn(name: self.name(metric, $0), merging: .sum) }
    }

    private static func merging(of metric: MetricName) -> Merging {
        switch metric.kind {
        case .counter, .histogram: return .sum
        case .gauge: break
        }
        switch metric {
        case .records, .recordBytes, .assets, .assetBytes, .rowBytes, .databaseBytes, .diskFreeBytes,
            .userQuotaBytes, .containerQuotaBytes, .processStart, .metricsWritten:
            return .last
        default: return .highest
        }
    }
}

/// The metrics of one moment, by column.
struct TelemetryReading: Sendable {
    /// NaN if the moment had no such metric.
    private(set) var values = [Double](repeating: .nan, count: TelemetryColumn.all.count)

    init(_ metrics: [Metric]) {
        for metric in metrics {
            for sample in metric.samples { self.take(sample, of: metric.name) }
        }
    }

    private mutating func take(_ sample: Metric.Sample, of metric: MetricName) {
        let label = sample.labels.first?.value
        switch sample.value {
        case .number(let number): self.set(TelemetryColumn.name(metric, label), number)
        case .durations(let durations):
            self.take(durations, TelemetryColumn.buckets(metric, label))
            // All operations together have buckets of their own.
            if label != nil { self.take(durations, TelemetryColumn.buckets(metric)) }
        }
    }

    private mutating func take(_ durations: DurationCounts, _ names: [String]) {
        for (offset, name) in names.enumerated() {
            guard let column = TelemetryColumn.offsets[name] else { return }
            let count = durations.counts.isEmpty ? 0 : Double(durations.counts[offset])
            self.values[column] = (self.values[column].isNaN ? 0 : self.values[column]) + count
        }
    }

    private mutating func set(_ name: String, _ value: Double) {
        if let column = TelemetryColumn.offsets[name] { self.values[column] = value }
    }

    /// The counts since an earlier moment of the same process, and the gauges of this one.
    func since(_ earlier: TelemetryReading?) -> [Double] {
        TelemetryColumn.all.indices.map { offset in
            let value = self.values[offset]
            guard TelemetryColumn.all[offset].merging == .sum, let before = earlier?.values[offset],
                !before.isNaN
            else { return value }
            // A counter that restarted has counted its value.
            return value < before ? value : value - before
        }
    }
}
