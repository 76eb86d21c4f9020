import Foundation

/// The metrics of a server, in Prometheus' text exposition format.
struct ServerSample: Hashable, Sendable {
    /// By name, labels included.
    var values: [String: Double] = [:]

    /// Reads a file.
    ///
    /// Lines that are not metrics are ignored.
    init(text: String) {
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            guard let space = line.lastIndex(of: " "), let value = Double(line[line.index(after: space)...])
            else { continue }
            self.values[String(line[..<space])] = value
        }
    }
}

/// The server's own metrics over the measured time, from samples a second apart.
struct ServerFigures: Codable, Sendable {
    /// The sampled values of a gauge.
    struct Level: Codable, Sendable {
        private(set) var max = 0.0
        private(set) var sum = 0.0
        private(set) var samples = 0

        var mean: Double { self.samples == 0 ? 0 : self.sum / Double(self.samples) }

        mutating func add(_ value: Double) {
            self.max = Swift.max(self.max, value)
            self.sum += value
            self.samples += 1
        }
    }

    /// The time at which the file was written.
    private static let time = "tidemark_metrics_written_timestamp_seconds"

    /// The kind of a metric, by Prometheus' naming conventions.
    ///
    /// Histograms are for graphs, and left out here.
    private enum Kind {
        case counter
        case gauge
        case histogram

        init(_ name: String) {
            let family = name.prefix { $0 != "{" }
            if family.hasSuffix("_total") {
                self = .counter
            } else if ["_bucket", "_sum", "_count"].contains(where: { family.hasSuffix($0) }) {
                self = .histogram
            } else {
                self = .gauge
            }
        }
    }

    /// Increases of the counters.
    private(set) var increases: [String: Double] = [:]
    private(set) var levels: [String: Level] = [:]
    /// From the first sample to the last, by the server's clock.
    private(set) var seconds = 0.0
    private var last: ServerSample?

    private enum CodingKeys: String, CodingKey {
        case increases, levels, seconds
    }

    /// Adds a sample.
    ///
    /// An older one is ignored. After a restart the server counts from 0.
    mutating func add(_ sample: ServerSample) {
        let time = sample.values[Self.time] ?? 0
        guard let last = self.last else {
            self.last = sample
            return
        }
        let lastTime = last.values[Self.time] ?? 0
        guard time > lastTime else { return }
        self.seconds += time - lastTime
        for (name, value) in sample.values where name != Self.time {
            switch Kind(name) {
            case .gauge: self.levels[name, default: Level()].add(value)
            case .counter:
                let before = last.values[name] ?? 0
                self.increases[name, default: 0] += value < before ? value : value - before
            case .histogram: continue
            }
        }
        self.last = sample
    }

    /// Each commit is one fsync of the log.
    var commits: Double { self.increases["tidemark_commits_total"] ?? 0 }
    var recordsPerCommit: Double { self.perCommit("tidemark_records_written_total") }
    var requestsPerCommit: Double { self.perCommit("tidemark_requests_committed_total") }

    private func perCommit(_ name: String) -> Double {
        self.commits == 0 ? 0 : (self.increases[name] ?? 0) / self.commits
    }
}
