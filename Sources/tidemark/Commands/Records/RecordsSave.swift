import Administration
import ArgumentParser
import RecordJSON
import RecordModel

struct RecordsSave: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "save",
        abstract: "Save records in JSON from a file or standard input.",
        discussion: """
            Takes one record, or one a line, in the form that `records get --json` \
            prints. Without recordChangeTag, the record has to be new; with it, the \
            record must not have changed. --policy changed-keys writes the given fields \
            whatever the tag. With all-keys, fields that are not given go as well.

            Saves in batches of at most 400. A record that is refused is named with its \
            line, and the command then exits with 65. In a zone of its own a batch is \
            saved as a whole, or not at all.

              tidemark records save --container iCloud.org.example.app --as alice \\
                  --file note.json
              tidemark records get first --container iCloud.org.example.app --as alice \\
                  --json | sed s/Hello/Bye/ | tidemark records save --as alice \\
                  --container iCloud.org.example.app
            """
    )

    @OptionGroup var options: RecordsOptions<DatabaseName>
    @OptionGroup var zone: ZoneOptions

    @Option(
        help: ArgumentHelp("A file of records; standard input if '-' or missing.", valueName: "file"),
        completion: .file()
    )
    var file: String?

    @Option(help: "What to do with records that are there.")
    var policy = PolicyName.ifUnchanged

    @Flag(help: "Print a JSON line for each record, with recordName and recordChangeTag or error.")
    var json = false

    @OptionGroup var settings: SettingsOptions

    func run() async throws {
        let (name, input) = try RecordFile.input(self.file)
        let result = try await self.options.openForWriting(self.settings, absent: .isMade) { database in
            var run = SaveRun(
                database: database,
                file: name,
                policy: self.policy.policy,
                zone: self.zone.id,
                visit: { if self.json { Self.print($0, $1) } }
            )
            try await run.run(JSONRecordReader(input, owners: database.owners))
            return run.result
        }
        if result.isEmpty { Terminal.writeError("tidemark: \(RecordFile.isEmpty).\n") }
        if !self.json {
            Terminal.write("Saved \(result.saved) \(result.saved == 1 ? "record" : "records").\n")
        }
        try result.failures.report(of: result.saved + result.failures.count, done: "saved")
    }

    private static func print(_ draft: RecordDraft, _ outcome: SaveRun.Outcome) {
        var output = JSONOutput()
        output.object { output in
            output.member("recordName", draft.recordName)
            switch outcome {
            case .saved(let changeTag): output.member("recordChangeTag", changeTag)
            case .failed(let failure):
                output.member("line", literal: "\(draft.position.line)")
                output.member("error", failure.text)
            }
        }
        Terminal.write(output.text + [UInt8(ascii: "\n")])
    }
}
