import Administration
import Console

/// The restorable states, with their times: `tidemark backup --list`.
struct BackupTable {
    private let rows: [Row]

    /// The backup at a path, or those in it; without one those that the data folder has noted, and those
    /// beside them.
    ///
    /// - Throws: `noStore` if there is none.
    init(at location: String?, of folder: DataFolder) throws(CommandFailure) {
        let backups =
            location.map { BackupListing.backups(at: $0) } ?? BackupListing(folder: folder).known.backups
        guard !backups.isEmpty else {
            throw CommandFailure(
                .noStore,
                location.map { "\($0) is no backup, and has none." }
                    ?? "\(folder.path) has noted no backup. Name one, or the folder that has them: "
                    + "tidemark backup --list --from DIR"
            )
        }
        self.rows = backups.map { Row($0) }
    }

    var json: String { get throws { try JSONText.of(self.rows) } }

    var text: String {
        Terminal.table(
            header: ["FROM", "TO", "KIND", "STATE", "BYTES", "PATH"],
            rows: self.rows.map {
                [$0.from, $0.to, $0.kind, $0.state, $0.bytes.map { "\($0)" }, $0.path].map { $0 ?? "-" }
            }
        )
    }

    private struct Row: Encodable {
        /// Absent for a stream.
        let path: String?
        /// `single`, `continued` or `stream`.
        let kind: String
        let state: String
        /// ISO 8601, in UTC: the oldest state and the newest; both the same of a single backup.
        let from: String?
        let to: String?
        let bytes: Int64?
        let assets: Int?
        let server: String?

        init(_ backup: KnownBackups.Backup) {
            self.path = backup.path.isEmpty ? nil : backup.path
            self.kind =
                switch backup.kind {
                case .folder: "single"
                case .continued: "continued"
                case .stream: "stream"
                }
            self.state =
                switch backup.state {
                case .complete: "complete"
                case .lacking(let assets): "lacks \(assets) assets"
                case .incomplete: "incomplete"
                case .missing: "missing"
                case .unreadable: "unreadable"
                }
            self.to = backup.milliseconds.map { Moment(milliseconds: $0).text }
            self.from = (backup.oldestMilliseconds ?? backup.milliseconds).map {
                Moment(milliseconds: $0).text
            }
            self.bytes = backup.bytes
            self.assets = backup.assets
            self.server = backup.server
        }
    }
}
