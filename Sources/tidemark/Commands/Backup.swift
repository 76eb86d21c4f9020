import ArgumentParser

struct Backup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copy all of a data folder, while the server runs.",
        discussion: """
            The backup has every change that was acknowledged before it began. It \
            is complete if the command exits with 0 and backup.json is in it. To \
            use it, run tidemark restore. The folder must be new or empty. Its \
            contents are as secret as the server's own data.

            Exits with 65 if files of assets are missing or damaged in the data \
            folder. They are listed, and the backup has everything else.

              tidemark backup --data /var/lib/tidemark --to /mnt/backups/2026-11-22
            """
    )

    @OptionGroup var data: DataOption

    @Option(help: ArgumentHelp("The folder of the backup, new or empty.", valueName: "dir"))
    var to: String

    func run() async throws {
        let target = BackupFolder(path: self.to)
        var run = try BackupRun(of: self.data.folder, to: target)
        let manifest = try run.run()
        Terminal.write(
            "Backed up \(self.data.folder.path) to \(target.path): "
                + "\(manifest.bytes) bytes, \(manifest.assets) assets.\n"
                + "Restore it with: tidemark restore --from \(target.path) --data DIR\n"
        )
        guard !manifest.damaged.isEmpty else { return }
        Terminal.write(AssetReport.table(of: manifest.damaged))
        throw CommandFailure(
            .data,
            "\(manifest.damaged.count) assets of \(self.data.folder.path) are damaged, and not in the backup. "
                + "Everything else is. Restore their files from an earlier backup."
        )
    }
}
