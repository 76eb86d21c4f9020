import Administration
import ArgumentParser
import RecordJSON
import RecordModel
import RecordStore

struct RecordsImport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Save all records of a file in JSON lines or CSV.",
        discussion: """
            Reads the whole file before it writes anything, so a file with an error \
            changes nothing. Then compares each record with the one that is there. \
            Records without a counterpart are created; equal ones are left alone, so an \
            import that was interrupted is run again. A record that differs is a \
            conflict, unless its recordChangeTag is the current one or --policy says \
            otherwise. Conflicts are named with their lines, and the command then exits \
            with 65.

              tidemark records import notes.jsonl --container iCloud.org.example.app \\
                  --as alice --dry-run
              tidemark records import posts.csv --container iCloud.org.example.app \\
                  --as editor --database public --type Post --policy changed-keys

            Takes records as CloudKit Web Services prints them, also in an array or in \
            {"records": […]}. Files of assets are read from FILE.assets, where an export \
            puts them. Shares, user records and deletions are left out.
            """
    )

    enum FileFormat: String, ExpressibleByArgument, CaseIterable {
        case json
        case csv
    }

    @OptionGroup var options: RecordsOptions<DatabaseName>
    @OptionGroup var zone: ZoneOptions

    @Argument(
        help: "The file; standard input if '-'.",
        completion: .file(extensions: ["jsonl", "json", "csv"])
    )
    var file: String

    @Option(help: "The format. (default: csv for a name that ends so, otherwise json)")
    var format: FileFormat?

    @Option(
        help: ArgumentHelp("With CSV: the type of all records.", valueName: "type"),
        completion: Completions.types
    )
    var type: String?

    @Option(help: "What to do with records that differ.")
    var policy = PolicyName.ifUnchanged

    @Option(
        help: ArgumentHelp("The folder with files of assets. (default: FILE.assets)", valueName: "dir"),
        completion: .directory
    )
    var assets: String?

    @Flag(help: "Create zones that are not there, in a private database.")
    var createZones = false

    @Flag(help: "Say what would be created, changed and in conflict, and write nothing.")
    var dryRun = false

    @Flag(help: "Print a JSON object with the numbers, and an array failures.")
    var json = false

    @OptionGroup var settings: SettingsOptions

    func run() async throws {
        let reserveBytes = try await self.settings.read(beside: self.options.data.folder).diskReserveBytes
        let result = try await self.options.openForWriting(
            self.settings,
            absent: self.dryRun ? .isAssumed : .isMade
        ) {
            database in
            let bar = TerminalProgress()
            var run = ImportRun(
                database: database,
                source: ImportSource(
                    file: try InputFile(
                        path: self.file,
                        folder: database.folder.path,
                        reserveBytes: reserveBytes
                    ),
                    isCSV: self.format.map { $0 == .csv } ?? self.file.lowercased().hasSuffix(".csv"),
                    recordType: self.type,
                    owners: database.owners
                ),
                zone: self.zone.id,
                policy: self.policy.policy,
                assets: AssetsBeside(path: self.assets ?? self.file + ".assets", database: database),
                isDryRun: self.dryRun,
                showProgress: { bar.show($0, of: $1) }
            )
            try await run.run(createsZones: self.createZones)
            bar.clear()
            return run.result
        }
        if result.isEmpty { Terminal.writeError("tidemark: \(RecordFile.isEmpty).\n") }
        if self.json {
            Terminal.write(try JSONText.of(result.row))
        } else {
            Terminal.write(result.text(isDryRun: self.dryRun))
        }
        try result.failures.report(
            "\(result.failures.count) records were refused, and all others \(self.dryRun ? "would be" : "are") imported."
        )
    }
}

extension ImportResult {
    struct Row: Encodable {
        struct Failure: Encodable {
            let line: Int?
            let recordName: String
            let reason: String
        }

        let created: Int
        let changed: Int
        let unchanged: Int
        let skipped: Int
        let failed: Int
        let zonesCreated: Int
        /// The first 1,000.
        let failures: [Failure]
    }

    /// The records that are on disk, within a sentence.
    var written: String {
        self.created + self.changed == 0
            ? "and nothing was written"
            : "after \(self.created) records were created and \(self.changed) changed; "
                + "run it again to go on"
    }

    func text(isDryRun: Bool) -> String {
        let parts = [
            "created \(self.created)", "changed \(self.changed)", "unchanged \(self.unchanged)",
            "skipped \(self.skipped)", "refused \(self.failures.count)",
        ]
        let zones = self.zonesCreated == 0 ? "" : ", zones created \(self.zonesCreated)"
        return (isDryRun ? "Would be: " : "Records: ") + parts.joined(separator: ", ") + zones + ".\n"
    }

    var row: Row {
        Row(
            created: self.created,
            changed: self.changed,
            unchanged: self.unchanged,
            skipped: self.skipped,
            failed: self.failures.count,
            zonesCreated: self.zonesCreated,
            failures: self.failures.kept.map {
                Row.Failure(line: $0.line, recordName: $0.record, reason: $0.text)
            }
        )
    }
}
