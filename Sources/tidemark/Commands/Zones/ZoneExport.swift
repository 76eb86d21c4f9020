import Administration
import ArgumentParser
import Foundation
import RecordModel
import StorageContract
import ZoneBundles

struct ZoneExport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write zones as a bundle: records, shares, schema and files, in one stream.",
        discussion: """
            A bundle is a tar archive. Its records are those of one moment, with names, \
            dates, authors and participants. Its last entry has the hash of everything \
            before it. Keep it as you keep a backup: it has all that the user stores.

              tidemark zone export --container iCloud.org.example.app --as alice \\
                  --zone Notes --output notes.tidemark
              tidemark zone export --container iCloud.org.example.app --as alice \\
                  --all | gzip > alice.tidemark.gz
              tidemark zone export --container iCloud.org.example.app \\
                  --database public --all --output public.tidemark

            With --scramble, noise takes the place of all values, names and files, so \
            that the bundle can go with the report of a bug. Types, lengths, references \
            and equalities stay, and so do the names of record types and fields.

              tidemark zone export --container iCloud.org.example.app --as alice \\
                  --zone Notes --scramble --output report.tidemark
            """
    )

    @OptionGroup var options: BundleOptions

    @Option(help: ArgumentHelp("A zone. Repeatable.", valueName: "name"))
    var zone: [String] = []

    @Flag(help: "Export all zones of the database.")
    var all = false

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("A new file; standard output if '-' or missing.", valueName: "file"),
        completion: .file()
    )
    var output: String?

    @Flag(help: "Replace values, names and files by noise of the same shape.")
    var scramble = false

    @Flag(help: "With --output: print a JSON object with numbers and the bundle's hash.")
    var json = false

    func validate() throws {
        guard self.all != !self.zone.isEmpty else {
            throw ValidationError("say which zones: --zone NAME, or --all for all of the database.")
        }
        guard self.options.isPublic == (self.options.user == nil) else {
            throw ValidationError(
                self.options.isPublic
                    ? "an export of the public database has all its records: leave out --as."
                    : "a private database belongs to a user: name them with --as, or say --database public."
            )
        }
    }

    func run() async throws {
        let path = self.output.flatMap { $0 == "-" ? nil : $0 }
        guard path != nil || isatty(STDOUT_FILENO) == 0 else {
            throw CommandFailure(
                .usage,
                "a bundle is no text for a terminal. Name a file with --output, or pipe it."
            )
        }
        let output = try BundleOutput(path: path)
        let bar = TerminalProgress()
        let report: ExportReport
        do {
            report = try await self.options.open { database in
                let description = BundleDescription(
                    version: Release.version,
                    container: self.options.container,
                    environment: self.options.environment.rawValue,
                    owner: database.requester.userRecordName ?? "",
                    isPublic: self.options.isPublic,
                    exportedMilliseconds: SystemTime.milliseconds()
                )
                let run = ZoneExportRun(
                    database: database,
                    description: description,
                    isScrambled: self.scramble,
                    output: output,
                    showProgress: { bar.show($0, of: $1) }
                )
                return try await run.run(self.all ? nil : self.zone)
            }
            bar.clear()
            try output.finish()
        } catch {
            output.discard()
            throw error
        }
        guard output.path != nil else { return }
        Terminal.write(try self.json ? JSONText.of(report) : report.text)
    }
}

extension ExportReport {
    var text: String {
        "Exported \(self.zones.count) \(self.zones.count == 1 ? "zone" : "zones") with \(self.records) "
            + "\(self.records == 1 ? "record" : "records") and \(self.assets) "
            + "\(self.assets == 1 ? "asset" : "assets"), \(self.bytes) bytes.\n"
    }
}
