import Foundation
import RecordStore
import StorageContract

/// The result of `tidemark backup --drill`.
struct DrillReport: Encodable, Hashable {
    var backup: String
    /// When the backup was complete, in ISO 8601; empty if that cannot be read.
    var date = ""
    /// From then to the drill.
    var ageSeconds: Double?
    /// The version of the server that made it.
    var server = ""
    var zones: Int64 = 0
    var records: Int64 = 0
    var recordBytes: Int64 = 0
    var assets = 0
    /// Records that are the same in the data folder; records that changed since were left out.
    ///
    /// Absent if there is no data folder.
    var comparedRecords: Int?
    /// The duration of the drill.
    var seconds = 0.0
    /// A line for each; empty if the backup can be used.
    var problems: [String] = []

    init(backup: String) {
        self.backup = backup
    }

    mutating func take(_ summary: BackupSummary) {
        self.date = summary.date
        self.server = summary.server
        self.ageSeconds = Moment(text: summary.date).map {
            Double(Moment.now.milliseconds - $0.milliseconds) / 1_000
        }
        // The backup's own summary has these problems.
        self.problems += summary.damaged.map { "\($0.file): \($0.problem) when the backup was made" }
    }

    mutating func take(_ verified: StoreVerified) {
        self.zones = Int64(verified.zones)
        self.records = verified.records
        self.recordBytes = verified.recordBytes
        self.problems += verified.findings.prefix(KeptRecord.faultsMax).map { $0.text }
    }

    var text: String {
        guard !self.date.isEmpty else { return "" }
        var text = """
            \(self.backup), of \(self.date) (\(self.age) ago), by version \(self.server):
              restored, read and removed in \(Int(self.seconds.rounded(.up))) s
              \(self.zones) zones, \(self.records) records of \(self.recordBytes) bytes, \(self.assets) assets

            """
        if let comparedRecords {
            text += "  \(comparedRecords) records compared with the data folder\n"
        }
        return text
    }

    /// The age in the largest unit that gives two or more.
    private var age: String {
        let minutes = Int((self.ageSeconds ?? 0) / 60)
        return switch minutes {
        case ..<120: "\(minutes) minutes"
        case ..<2_880: "\(minutes / 60) hours"
        default: "\(minutes / 1_440) days"
        }
    }

    /// The result in Prometheus' text format, for a collector.
    var metrics: String {
        let now = Date().timeIntervalSince1970
        var gauges = [
            MetricsText.Gauge(
                name: "tidemark_backup_drill_time_seconds",
                help: "When the last drill ended, since 1970",
                value: now
            ),
            MetricsText.Gauge(
                name: "tidemark_backup_drill_success",
                help: "Whether the newest backup could be restored, 1 or 0",
                value: self.problems.isEmpty ? 1 : 0
            ),
            MetricsText.Gauge(
                name: "tidemark_backup_drill_duration_seconds",
                help: "How long the last drill took",
                value: self.seconds
            ),
        ]
        if let ageSeconds {
            gauges.append(
                MetricsText.Gauge(
                    name: "tidemark_backup_time_seconds",
                    help: "When the newest backup was complete, since 1970",
                    value: (now - ageSeconds).rounded()
                )
            )
        }
        return MetricsText.text(of: gauges)
    }
}
