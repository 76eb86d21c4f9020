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

            Exits with 65 if files of assets are missing or damaged in the backup. \
            They are listed, and the folder has everything else.

            With --from - the backup comes through a pipe, as tidemark backup --to - \
            sends it. Every byte is compared with its hash. A stream that was cut \
            or changed leaves nothing, and the command exits with 65.

              tidemark restore --from /mnt/backups/2026-11-22 --data /var/lib/tidemark
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

    @OptionGroup var data: DataOption

    func run() async throws {
        let target = self.data.folder
        let source = try self.source()
        var run = try RestoreRun(of: source, to: target)
        let damaged = try run.run().damaged
        Terminal.write(
            "Restored the backup of \(source.summary.date) to \(target.path).\n"
                + "Start the server with: tidemark serve --data \(target.path)\n"
        )
        guard !damaged.isEmpty else { return }
        Terminal.write(AssetReport.table(of: damaged))
        throw CommandFailure(
            .data,
            "\(damaged.count) assets are missing or damaged in the backup. \(target.path) has everything else."
        )
    }

    private func source() throws -> any RestoreSource {
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
