import Administration
import Foundation
import StorageContract

/// The sentence for a store that lacks acknowledged saves, with the command that goes on.
enum LossAdvice {
    static func failure(_ loss: LogLoss, in folder: DataFolder) -> CommandFailure {
        let data = ShellText.quoted(folder.path)
        guard !loss.isInFile else {
            return CommandFailure(
                .data,
                "\(self.finding(loss)). Nothing is lost: \(loss.path) has all of it. Let the log begin anew: "
                    + "tidemark repair --data \(data)"
            )
        }
        return CommandFailure(
            .data,
            "acknowledged saves are missing: \(self.finding(loss)). Put the missing file back, or restore a backup into "
                + "another folder: tidemark restore --from BACKUP --data DIR. To go on without what is missing, copy the "
                + "folder, and run: tidemark repair --accept-loss --data \(data)"
        )
    }

    /// The finding, without a full stop.
    static func finding(_ loss: LogLoss) -> String {
        let log = loss.path + "-wal"
        let synced = "\(self.frames(loss.framesSynced)) were synced\(self.time(loss))"
        return switch loss.finding {
        case .logMissing: "\(log) is missing, or has no beginning, and \(synced)"
        case .logCut:
            "\(log) ends after \(self.frames(loss.framesFound)), at a wrong byte or a cut, and \(synced)"
        case .logForeign: "\(log) is another log or an earlier one, and \(synced)"
        case .logDamaged: "\(log) has a wrong byte, and commits behind it"
        case .databaseOlder: "\(loss.path) is older than the last commit\(self.time(loss))"
        }
    }

    private static func frames(_ count: Int64) -> String {
        "\(count) \(count == 1 ? "page" : "pages")"
    }

    private static func time(_ loss: LogLoss) -> String {
        guard loss.milliseconds > 0 else { return "" }
        let date = Date(timeIntervalSince1970: Double(loss.milliseconds) / 1_000)
        return ", the last at \(date.formatted(.iso8601))"
    }
}
