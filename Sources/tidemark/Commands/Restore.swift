import ArgumentParser

struct Restore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make a data folder from a backup.",
        discussion: """
            The folder must be new or empty; nothing is overwritten. What was \
            changed after the backup is gone, and clients notice: their change \
            tokens have expired, so that they fetch everything again. A user or key \
            that was revoked after the backup is to be revoked again.

            If it is broken off, no server serves the folder; run it again.

            Ends with 65 when the backup lacks files of assets; they are named, and \
            the folder has everything else.

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
