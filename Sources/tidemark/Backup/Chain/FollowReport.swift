import FileIO
import Foundation

/// Reports of the process that continues a chain: a line for each turn, and figures for a collector.
struct FollowReport {
    /// A line of `--json`.
    struct Line: Encodable, Hashable {
        /// `base`, `increment`, `unchanged`, `removed` or `failed`.
        var event: String
        /// The folder of the base.
        var base: String?
        var increment: Int?
        /// All that is in the state was written before.
        var time: String?
        /// All that was acknowledged before is in the state.
        var covers: String?
        var bytes: Int64?
        var assets: Int?
        /// Files of assets that are missing or damaged in the data folder.
        var damaged: [String]?
        var error: String?
    }

    let isJSON: Bool
    let metricsFile: String?
    var figures = FollowFigures()

    init(isJSON: Bool, metricsFile: String?) {
        self.isJSON = isJSON
        self.metricsFile = metricsFile
    }

    mutating func added(_ added: ChainWriter.Added, to base: String, seconds: Double) {
        let isBase = added.number == 0
        self.figures.covered(added.begun)
        self.figures.bytes = added.bytes
        self.figures.seconds = seconds
        let damaged = added.damaged.map { "\($0.file): \($0.problem)" }
        let line = Line(
            event: isBase ? "base" : "increment",
            base: base,
            increment: isBase ? nil : added.number,
            time: added.time.text,
            covers: added.begun.text,
            bytes: added.bytes,
            assets: added.assets,
            damaged: damaged.isEmpty ? nil : damaged
        )
        self.tell(
            line,
            "\(added.time.text)  \(isBase ? "base" : "increment \(added.number)")  "
                + "\(added.bytes) bytes, \(added.assets) assets"
        )
        guard !damaged.isEmpty else { return }
        Terminal.writeFailure(
            "tidemark: \(damaged.count) assets are damaged, and not in the backup: "
                + damaged.joined(separator: ", ") + "\n"
        )
    }

    mutating func unchanged(since covered: Moment) {
        self.figures.covered(covered)
        self.tell(Line(event: "unchanged", covers: covered.text), nil)
    }

    func removed(_ bases: [String]) {
        for base in bases { self.tell(Line(event: "removed", base: base), "removed \(base)") }
    }

    mutating func failed(_ message: String, againIn span: Span) {
        self.figures.isFailing = true
        self.tell(Line(event: "failed", error: message), nil)
        Terminal.writeFailure("tidemark: \(message) The next try is in \(span.seconds) seconds.\n")
    }

    private func tell(_ line: Line, _ text: String?) {
        if !self.isJSON {
            if let text { Terminal.write(text + "\n") }
            return
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let json = try? encoder.encode(line) else { return }
        Terminal.write(String(decoding: json, as: UTF8.self) + "\n")
    }

    /// Writes the figures; that they cannot be written ends no backup.
    func writeMetrics() {
        guard let metricsFile else { return }
        do throws(CommandFailure) {
            try MetricsText.write(self.figures.metrics, to: metricsFile)
        } catch {
            Terminal.writeFailure("tidemark: \(error.message)\n")
        }
    }
}

/// Figures of a chain for a collector.
struct FollowFigures: Hashable {
    /// The newest state has all that was acknowledged before.
    var time: Moment?
    var base: Moment?
    /// The size of the last base or increment, and the duration of writing it.
    var bytes: Int64 = 0
    var seconds = 0.0
    var isFailing = false

    mutating func covered(_ time: Moment) {
        self.time = time
        self.isFailing = false
    }

    /// In Prometheus' text format.
    var metrics: String {
        var gauges = [
            MetricsText.Gauge(
                name: "tidemark_backup_follow_success",
                help: "Whether the last try to continue the backup has worked, 1 or 0",
                value: self.isFailing ? 0 : 1
            ),
            MetricsText.Gauge(
                name: "tidemark_backup_follow_bytes",
                help: "Size of the last base or increment",
                value: Double(self.bytes)
            ),
            MetricsText.Gauge(
                name: "tidemark_backup_follow_duration_seconds",
                help: "How long the last base or increment took",
                value: self.seconds
            ),
        ]
        if let time {
            gauges.append(
                MetricsText.Gauge(
                    name: "tidemark_backup_follow_time_seconds",
                    help: "Up to when the backup has every change, since 1970",
                    value: Double(time.milliseconds) / 1_000
                )
            )
        }
        if let base {
            gauges.append(
                MetricsText.Gauge(
                    name: "tidemark_backup_follow_base_time_seconds",
                    help: "When the newest base was made, since 1970",
                    value: Double(base.milliseconds) / 1_000
                )
            )
        }
        return MetricsText.text(of: gauges)
    }
}

/// Figures of a command in Prometheus' text format, in a file for node_exporter.
enum MetricsText {
    struct Gauge {
        var name: String
        var help: String
        var value: Double
    }

    static func text(of gauges: [Gauge]) -> String {
        gauges.map { "# HELP \($0.name) \($0.help)\n# TYPE \($0.name) gauge\n\($0.name) \($0.value)\n" }
            .joined()
    }

    /// Replaces a file in one step; every user may read it.
    ///
    /// - Throws: `cannotCreate`.
    static func write(_ text: String, to path: String) throws(CommandFailure) {
        do {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        } catch {
            throw CommandFailure(
                .cannotCreate,
                "the metrics cannot be written to \(path): \(FileError.reason(error)). Check its folder, who owns it, and "
                    + "its disk."
            )
        }
    }
}
