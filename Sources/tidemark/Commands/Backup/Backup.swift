import Administration
import ArgumentParser
import Foundation

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

            With --to - the backup goes through a pipe, as a tar archive. A copy of \
            the database is made in a temporary folder meanwhile, and removed.

            With --follow it runs until SIGTERM, and continues one backup: a copy of \
            everything first, then after each interval what has changed. Any of \
            these states can be restored (tidemark restore --at). Start it again \
            with the same folder, whenever it was stopped. One that cannot write \
            says so, and tries again after the interval.

            With --drill it makes no backup, but proves that the newest one can be \
            used: it restores it into a temporary folder, reads everything, counts \
            the records of each zone, and compares files with their hashes. If \
            there is a data folder, 1,000 records taken by chance are compared \
            with it. Exits with 65 if anything is wrong, and with 66 if there is \
            no backup.

            With --list it makes no backup, but lists what can be restored: the \
            backups of --from, or those that the data folder has noted. A continued one \
            has a state for each time between FROM and TO, which tidemark restore --at \
            takes. Exits with 66 if there is none.

              tidemark backup --data /var/lib/tidemark --to /mnt/backups/2026-11-22
              tidemark backup --follow --every 2m --keep 7d --to /mnt/follow
              tidemark backup --to - | ssh vault 'cat > backup.tar'
              tidemark backup --drill --from /mnt/backups --data /var/lib/tidemark
              tidemark backup --list --from /mnt/backups
            """
    )

    @OptionGroup var data: DataOption

    @Option(
        help: ArgumentHelp("The folder of the backup, new or empty; - is standard output.", valueName: "dir")
    )
    var to: String?

    @Flag(help: "Continue the backup with what changes, until a signal.")
    var follow = false

    @Option(
        help: ArgumentHelp(
            "With --follow: the time between two increments (default: 2m).",
            discussion: "A whole number and s, m, h or d.",
            valueName: "time"
        )
    )
    var every: Span?

    @Option(
        help: ArgumentHelp(
            "With --follow: the time between two copies of everything (default: 1d).",
            valueName: "time"
        )
    )
    var baseEvery: Span?

    @Option(
        help: ArgumentHelp(
            "With --follow: how far back every state can be restored (default: 7d).",
            valueName: "time"
        )
    )
    var keep: Span?

    @Flag(help: "Restore the newest backup for a trial.")
    var drill = false

    @Flag(help: "List what can be restored.")
    var list = false

    @Option(
        help: ArgumentHelp(
            "With --drill and --list: a backup, or the folder that has the backups.",
            valueName: "dir"
        )
    )
    var from: String?

    @Option(
        help: ArgumentHelp(
            "With --drill and --to -: where the temporary folder is made.",
            discussion:
                "A drill needs room for the whole backup, a stream for the database. Without it TMPDIR, without that /var/tmp.",
            valueName: "dir"
        )
    )
    var scratch: String?

    @Option(
        help: ArgumentHelp(
            "With --drill and --follow: write figures there, for Prometheus.",
            discussion: "A collector of node_exporter reads files that end with .prom.",
            valueName: "file"
        )
    )
    var metricsFile: String?

    @Flag(help: "Print a JSON object; with --follow, one a line; with --list, an array.")
    var json = false

    func validate() throws {
        guard self.follow || self.every == nil && self.baseEvery == nil && self.keep == nil else {
            throw ValidationError("--every, --base-every and --keep are for --follow.")
        }
        guard !self.list else {
            guard self.to == nil, !self.follow, !self.drill, self.scratch == nil, self.metricsFile == nil
            else { throw ValidationError("A list takes --from, --data and --json alone.") }
            return
        }
        guard !self.drill else {
            guard self.from != nil, self.to == nil, !self.follow else {
                throw ValidationError("A drill reads a backup and makes none: give --from, and not --to.")
            }
            return
        }
        guard let to = self.to else { throw ValidationError("Missing expected argument '--to <dir>'") }
        guard self.from == nil else { throw ValidationError("--from is for --drill and --list.") }
        guard self.follow || self.metricsFile == nil else {
            throw ValidationError("--metrics-file is for --drill and --follow.")
        }
        guard !self.json || to != "-" else {
            throw ValidationError("--json needs a folder: with --to - the archive is on standard output.")
        }
        guard self.scratch == nil || to == "-" else {
            throw ValidationError("--scratch is for --drill and --to -.")
        }
        guard !self.follow || to != "-" else {
            throw ValidationError("A backup that is continued needs a folder: --to DIR.")
        }
    }

    func run() async throws {
        if self.list {
            let table = try BackupTable(at: self.from, of: self.data.folder)
            Terminal.write(try self.json ? table.json : table.text)
        } else if let from = self.from {
            try await self.runDrill(from)
        } else if let to = self.to {
            if self.follow { try await self.runFollowing(to) } else { try self.make(to) }
        }
    }

    private func runFollowing(_ to: String) async throws {
        let run = FollowRun(
            source: self.data.folder,
            chain: BackupChain(path: to),
            every: self.every ?? Span(seconds: 120),
            baseEvery: self.baseEvery ?? Span(seconds: 86_400),
            keep: self.keep ?? Span(seconds: 7 * 86_400),
            isJSON: self.json,
            metricsFile: self.metricsFile
        )
        try await run.run()
    }

    private func runDrill(_ from: String) async throws {
        let drill = BackupDrill(
            backup: try DrilledBackup.newest(in: from),
            data: self.data.folder,
            scratch: self.scratch ?? ScratchFolder.parent
        )
        let report = try await drill.run()
        BackupNotes.note(report, in: self.data.folder)
        if let file = self.metricsFile { try MetricsText.write(report.metrics, to: file) }
        Terminal.write(try self.json ? JSONText.of(report) : report.text)
        guard !report.problems.isEmpty else { return }
        throw CommandFailure(
            .data,
            "the backup in \(report.backup) cannot be relied on. Make another one, and keep this one until "
                + "it has passed a drill:\n" + report.problems.map { "  \($0)" }.joined(separator: "\n")
        )
    }

    private func send() throws {
        guard isatty(STDOUT_FILENO) == 0 else {
            throw CommandFailure(
                .usage,
                "a backup is not for a terminal. Send it through a pipe, or name a file: "
                    + "tidemark backup --to - > BACKUP.tar"
            )
        }
        var run = try BackupStream(of: self.data.folder, scratch: self.scratch ?? ScratchFolder.parent)
        let manifest = try run.run(to: STDOUT_FILENO)
        BackupNotes.note(manifest, to: nil, in: self.data.folder)
        Terminal.writeError(
            "Backed up \(self.data.folder.path): \(manifest.bytes) bytes, \(manifest.assets) assets.\n"
        )
        try self.refuse(manifest.damaged) { Terminal.writeFailure($0) }
    }

    private func make(_ to: String) throws {
        guard to != "-" else { return try self.send() }
        let target = BackupFolder(path: to)
        var run = try BackupRun(of: self.data.folder, to: target)
        let manifest = try run.run()
        BackupNotes.note(manifest, to: target, in: self.data.folder)
        guard !self.json else {
            Terminal.write(
                try JSONText.of(
                    Output(
                        data: self.data.folder.path,
                        backup: target.path,
                        bytes: manifest.bytes,
                        assets: manifest.assets,
                        damaged: manifest.damaged
                    )
                )
            )
            return try self.refuse(manifest.damaged) { Terminal.writeFailure($0) }
        }
        Terminal.write(
            "Backed up \(self.data.folder.path) to \(target.path): "
                + "\(manifest.bytes) bytes, \(manifest.assets) assets.\n"
                + "Restore it with: tidemark restore --from \(target.path) --data DIR\n"
        )
        try self.refuse(manifest.damaged) { Terminal.write($0) }
    }

    private struct Output: Encodable {
        let data: String
        let backup: String
        let bytes: Int64
        let assets: Int
        let damaged: [AssetReport.Damaged]
    }

    private func refuse(_ damaged: [AssetReport.Damaged], _ write: (String) -> Void) throws {
        guard !damaged.isEmpty else { return }
        write(AssetReport.table(of: damaged))
        throw CommandFailure(
            .data,
            "\(damaged.count) assets of \(self.data.folder.path) are damaged, and not in the backup. "
                + "Everything else is. Restore their files from an earlier backup."
        )
    }
}
