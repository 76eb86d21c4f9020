import ArgumentParser

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

              tidemark restore --from /mnt/backups/2026-11-22 --data /var/lib/tidemark
            """
    )

    @Option(help: ArgumentHelp("A folder that tidemark backup has made.", valueName: "dir"))
    var from: String

    @OptionGroup var data: DataOption

    func run() async throws {
        let source = BackupFolder(path: self.from)
        let target = self.data.folder
        var run = try RestoreRun(of: source, to: target)
        let (manifest, damaged) = try run.run()
        Terminal.write(
            "Restored the backup of \(manifest.date) to \(target.path).\n"
                + "Start the server with: tidemark serve --data \(target.path)\n"
        )
        guard !damaged.isEmpty else { return }
        Terminal.write(AssetReport.table(of: damaged))
        throw CommandFailure(
            .data,
            "\(damaged.count) assets are missing or damaged in the backup. \(target.path) has everything else."
        )
    }
}
