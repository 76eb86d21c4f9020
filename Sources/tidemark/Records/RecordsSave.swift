import ArgumentParser
import RecordJSON
import RecordModel
import RecordStore

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
        let run = try await self.options.openForWriting(self.settings, absent: .isMade) { database in
            var run = SaveRun(
                database: database,
                policy: self.policy,
                zone: self.zone.id,
                printsJSON: self.json
            )
            var reader = JSONRecordReader(input, owners: database.owners)
            var isWithoutRecord = true
            while let draft = try RecordFile.next(&reader, of: name, written: run.written) {
                isWithoutRecord = false
                try await run.add(draft, of: name)
            }
            if isWithoutRecord {
                try RecordFile.refuseWithoutRecord(name, bytes: reader.bytesTaken, written: run.written)
                Terminal.writeError("tidemark: \(RecordFile.isEmpty).\n")
            }
            try await run.writeBatch()
            return run
        }
        if !self.json { Terminal.write("Saved \(run.saved) \(run.saved == 1 ? "record" : "records").\n") }
        try run.failures.report(of: run.saved + run.failures.count, done: "saved")
    }
}

/// Saves records as they come, a batch at a time.
struct SaveRun {
    let database: AdministeredDatabase
    let policy: PolicyName
    /// In place of the zones in the text.
    let zone: ZoneID?
    let printsJSON: Bool
    private var batch: SaveBatch
    private(set) var saved = 0
    private(set) var failures = ItemFailures()

    init(database: AdministeredDatabase, policy: PolicyName, zone: ZoneID?, printsJSON: Bool) {
        self.database = database
        self.policy = policy
        self.zone = zone
        self.printsJSON = printsJSON
        self.batch = SaveBatch(database.bounds)
    }

    /// What is on disk, for an error.
    var written: String {
        self.saved == 0 ? "Nothing was saved." : "\(self.saved) records before it were saved."
    }

    mutating func add(_ draft: RecordDraft, of name: String) async throws {
        guard !draft.isDeletion else {
            throw CommandFailure(
                .data,
                "\(name): \(draft.place): the text says that the record was deleted. Remove it, or delete the record: "
                    + "tidemark records delete. \(self.written)"
            )
        }
        if !self.batch.hasRoom(for: draft) { try await self.writeBatch() }
        guard self.batch.add(draft, as: self.database.id(of: draft, in: self.zone)) else {
            throw CommandFailure(
                .data,
                "\(name): \(draft.place): the record '\(PrintedText.line(draft.recordName))' comes twice. \(self.written)"
            )
        }
    }

    mutating func writeBatch() async throws {
        guard !self.batch.isEmpty else { return }
        let drafts = self.batch.drafts
        self.batch.removeAll()
        let outcomes: [WriteOutcome]
        do {
            let operation = ModifyRecords(
                scope: self.database.requester.scope,
                saves: try await self.saves(drafts),
                policy: self.policy.policy
            )
            outcomes = try await self.database.write(
                .modifyRecords(operation),
                bytes: operation.saves.reduce(0) { $0 + $1.changes.bytes.count }
            )
        } catch let error as StoreError {
            var failure = RecordAdvice.failure(error, doing: "the records cannot be saved")
            failure.message += " \(self.written)"
            throw failure
        }
        for (draft, outcome) in zip(drafts, outcomes) { self.take(outcome, of: draft) }
    }

    private func saves(_ drafts: [RecordDraft]) async throws -> [RecordSave] {
        let ids = drafts.map { self.database.id(of: $0, in: self.zone) }
        guard self.policy == .allKeys else {
            return zip(drafts, ids).map { $0.save(as: $1, changeTag: $0.changeTag, changes: $0.changes) }
        }
        let existing = try await self.database.fetch(ids)
        return zip(zip(drafts, ids), existing).map { item, outcome in
            var changes = item.0.changes
            if case .record(let record) = outcome { changes = changes.clearingOthers(of: record.body) }
            return item.0.save(as: item.1, changeTag: item.0.changeTag, changes: changes)
        }
    }

    private mutating func take(_ outcome: WriteOutcome, of draft: RecordDraft) {
        switch outcome {
        case .recordSaved(let position, _):
            self.saved += 1
            self.print(draft) { $0.member("recordChangeTag", ChangeTag.text(of: position)) }
        case .failed(let error):
            let failure = ItemFailure(record: draft.recordName, line: draft.place.line, error: error)
            self.failures.add(failure)
            self.print(draft) { output in
                output.member("line", literal: "\(draft.place.line)")
                output.member("error", failure.text)
            }
        case .zoneSaved, .subscriptionSaved, .deleted, .shareAccepted, .done: return
        }
    }

    private func print(_ draft: RecordDraft, _ more: (inout JSONOutput) -> Void) {
        guard self.printsJSON else { return }
        var output = JSONOutput()
        output.object { output in
            output.member("recordName", draft.recordName)
            more(&output)
        }
        Terminal.write(output.text + [UInt8(ascii: "\n")])
    }
}
