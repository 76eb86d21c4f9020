import Foundation

/// What a server says of itself, in Prometheus' text exposition format.
struct ServerSample: Hashable, Sendable {
    /// By name, labels included.
    var values: [String: Double] = [:]

    /// Reads a file; lines that are no figures count for nothing.
    init(text: String) {
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            guard let space = line.lastIndex(of: " "), let value = Double(line[line.index(after: space)...])
            else { continue }
            self.values[String(line[..<space])] = value
        }
    }
}

/// The server's own figures over the measured time, from samples a second apart.
struct ServerFigures: Codable, Sendable {
    /// A figure that was looked at now and then.
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

    /// Those that say how much there is now; all others only grow.
    private static let levels: Set<String> = [
        "tidemark_connections_open", "tidemark_listeners", "tidemark_uploads_receiving",
        "tidemark_uploads_waiting", "tidemark_requests_waiting", "tidemark_bytes_waiting",
    ]
    /// The time at which the file was written.
    private static let time = "tidemark_metrics_written_seconds"

    /// By how much those that only grow have grown.
    private(set) var increases: [String: Double] = [:]
    private(set) var levels: [String: Level] = [:]
    /// From the first sample to the last, by the server's clock.
    private(set) var seconds = 0.0
    private var last: ServerSample?

    private enum CodingKeys: String, CodingKey {
        case increases, levels, seconds
    }

    /// A sample that was taken before counts for nothing; a server that began anew counts from 0 again.
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
            if Self.levels.contains(name) {
                self.levels[name, default: Level()].add(value)
            } else {
                let before = last.values[name] ?? 0
                self.increases[name, default: 0] += value < before ? value : value - before
            }
        }
        self.last = sample
    }

    /// Each commit is one fsync of the log.
    var commits: Double { self.increases["tidemark_commits"] ?? 0 }
    var recordsPerCommit: Double { self.perCommit("tidemark_records_written") }
    var requestsPerCommit: Double { self.perCommit("tidemark_requests_committed") }

    private func perCommit(_ name: String) -> Double {
        self.commits == 0 ? 0 : (self.increases[name] ?? 0) / self.commits
    }
}
