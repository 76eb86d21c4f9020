import Administration
import Console

/// The backups that were made before something was deleted, and have it still.
struct EarlierBackups {
    /// Paths, newest first; a backup that went through a pipe has its date.
    let names: [String]

    init(of folder: DataFolder) {
        self.names = BackupListing(folder: folder).known.backups.compactMap { backup in
            guard backup.state != .missing else { return nil }
            guard backup.path.isEmpty else { return backup.path }
            let date = backup.milliseconds.map { Moment(milliseconds: $0).text }
            return "the stream of \(date ?? "an unknown date")"
        }
    }

    /// Lines for people; empty if there is none.
    var text: String {
        guard !self.names.isEmpty else { return "" }
        return "Backups that were made before still have it:\n" + self.names.map { "  \($0)\n" }.joined()
    }
}
