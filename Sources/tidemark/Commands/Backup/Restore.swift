import Administration
import ArgumentParser
import Foundation

struct Restore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make a data folder from a backup.",
        discussion: """
            The folder must be new or empty; nothing is overwritten. Changes after \
            the backup are lost. Clients detect it: their change tokens have \
            expired, so they fetch everything again. Users and keys that were \
            revoked after the backup have to be revoked again.

            After an interrupted restore, no server serves the folder; run the \
            command again.

            A folder of tidemark backup --follow has many states. Without --at the \
            newest is restored, with it the newest that is not after that time. If \
            a file that the state needs is damaged or missing, the command says up \
            to when the backup is whole, and exits with 65. With --whole-part it \
            restores that.

            Exits with 65 if files of assets are missing or damaged in the backup. \
            They are listed, and the folder has everything else.

            With --from - the backup comes through a pipe, as tidemark backup --to - \
            sends it. Every byte is compared with its hash. A stream that was cut \
            or changed leaves nothing, and the command exits with 65.

              tidemark restore --from /mnt/backups/2026-11-22 --data /var/lib/tidemark
              tidemark restore --from /mnt/follow --at 2026-11-26T08:30:00Z --data ./data
              ssh vault cat backup.tar | tidemark restore --from - --data ./data
            """
    )

    @Option(
        help: ArgumentHelp(
            "A folder that tidemark backup has made; - is standard input.",
            valueName: "dir"
        )
    )
    var from: String

    @Option(
        help: ArgumentHelp(
            "Restore the newest state that is not after this time.",
            discussion: "In ISO 8601 with a zone: 2026-11-26T08:30:00Z, 2026-11-26T09:30+01:00.",
            valueName: "time"
        )
    )
    var at: Moment?

    @Flag(help: "Restore an older state if files of the wanted one are damaged.")
    var wholePart = false

    @Flag(help: "Print a JSON object.")
    var json = false

    @OptionGroup var data: DataOption

    /// The output of `--json`.
    private struct Report: Encodable {
        var data: String
        /// The time of the state that was restored.
        var time: String
        /// The version of the server that made the backup.
        var server: String
        var assets: Int
        var damaged: [AssetReport.Damaged]
    }

    func run() async throws {
        let target = self.data.folder
        var run = try RestoreRun(of: try self.source(), to: target)
        let outcome = try run.run()
        let (summary, damaged) = (outcome.summary, outcome.damaged)
        if self.json {
            let report = Report(
                data: target.path,
                time: summary.date,
                server: summary.server,
                assets: outcome.assets,
                damaged: damaged
            )
            Terminal.write(try JSONText.of(report))
        } else {
            Terminal.write(
                "Restored the backup of \(summary.date) to \(target.path).\n"
                    + "Start the server with: tidemark serve --data \(target.path)\n"
                    + AssetReport.table(of: damaged)
            )
        }
        guard !damaged.isEmpty else { return }
        throw CommandFailure(
            .data,
            "\(damaged.count) assets are missing or damaged in the backup. \(target.path) has everything else."
        )
    }

    private func source() throws -> any RestoreSource {
        let chain = BackupChain(path: self.from)
        if self.from != "-", chain.isThere {
            return try ChainSource(chain, at: self.at, takesWholePart: self.wholePart)
        }
        guard self.at == nil, !self.wholePart else {
            throw CommandFailure(
                .usage,
                "--at and --whole-part are for a folder of tidemark backup --follow, and \(self.from) is none."
            )
        }
        guard self.from == "-" else { return try FolderSource(BackupFolder(path: self.from)) }
        guard isatty(STDIN_FILENO) == 0 else {
            throw CommandFailure(
                .usage,
                "a backup does not come from a terminal. Send it through a pipe: "
                    + "ssh HOST cat BACKUP.tar | tidemark restore --from -"
            )
        }
        return try StreamSource(descriptor: STDIN_FILENO)
    }
}
