import Foundation
import RecordStore

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
    /// Records that are as they are in the data folder; those that changed since were left out.
    ///
    /// Absent if there is no data folder.
    var comparedRecords: Int?
    /// What the drill took.
    var seconds = 0.0
    /// A line for each; empty if the backup can be used.
    var problems: [String] = []

    init(backup: String) {
        self.backup = backup
    }

    mutating func take(_ summary: BackupSummary) {
        self.date = summary.date
        self.server = summary.server
        let date = try? Date(summary.date, strategy: .iso8601)
        self.ageSeconds = date.map { Date().timeIntervalSince($0) }
        // The backup says so itself.
        self.problems += summary.damaged.map { "\($0.file): \($0.problem) when the backup was made" }
    }

    mutating func take(_ check: StoreCheck) {
        self.zones = check.zones
        self.records = check.records
        self.recordBytes = check.recordBytes
        self.problems += check.faults
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

    /// In the largest unit of which there are two or more.
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
            ("tidemark_backup_drill_time_seconds", "When the last drill ended, since 1970", now),
            (
                "tidemark_backup_drill_success",
                "Whether the newest backup could be restored, 1 or 0",
                self.problems.isEmpty ? 1 : 0
            ),
            ("tidemark_backup_drill_duration_seconds", "How long the last drill took", self.seconds),
        ]
        if let ageSeconds {
            gauges.append(
                (
                    "tidemark_backup_time_seconds",
                    "When the newest backup was complete, since 1970",
                    (now - ageSeconds).rounded()
                )
            )
        }
        return gauges.map { "# HELP \($0.0) \($0.1)\n# TYPE \($0.0) gauge\n\($0.0) \($0.2)\n" }.joined()
    }

    /// Replaces a file with the metrics in one step; every user may read it.
    ///
    /// - Throws: `cannotCreate`.
    func writeMetrics(to path: String) throws(CommandFailure) {
        do {
            try Data(self.metrics.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        } catch {
            throw CommandFailure(
                .cannotCreate,
                "the metrics cannot be written to \(path). Check its folder and who owns it."
            )
        }
    }
}
