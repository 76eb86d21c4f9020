import Administration
import ArgumentParser
import RecordModel
import RecordStore
import StorageContract

struct ZoneUndo: AsyncParsableCommand {
    /// The treatment of a record that another user changed after the changes of `--by`.
    enum LaterSaves: String, EnumerableFlag {
        case keepLater
        case overrideLater

        static func help(for value: LaterSaves) -> ArgumentHelp? {
            switch value {
            case .keepLater: "Leave a record as it is if others changed it after --by."
            case .overrideLater: "Undo what others changed after --by, too."
            }
        }
    }

    static let configuration = CommandConfiguration(
        commandName: "undo",
        abstract: "Put a zone back to how it was, or undo what somebody did in it.",
        discussion: """
            An undo makes ordinary changes: devices follow with their next fetch, \
            listeners are notified, and files of assets come back. It says how many \
            records it concerns, and asks for confirmation. It prints the position \
            before the undo, with which the undo itself can be undone. Shares, users' \
            own records and deleted zones are left as they are. If the command is \
            interrupted, run it again.

              tidemark zone undo --container iCloud.org.example.app --as alice \\
                  --zone Notes --to 2026-11-26T09:30:00Z --dry-run
              tidemark zone undo --container iCloud.org.example.app --as alice \\
                  --zone Notes --to 1204 --by bob
            """
    )

    @OptionGroup var options: HistoryOptions

    @Option(help: ArgumentHelp("Put the zone back to \(PointInTime.help).", valueName: "point"))
    var to: PointInTime

    @Flag(exclusivity: .exclusive)
    var laterSaves = LaterSaves.keepLater

    @Flag(help: "Count the records, and change none.")
    var dryRun = false

    @Flag(help: "Skip the confirmation.")
    var yes = false

    @Flag(
        help: "Print a JSON object with created, changed, deleted, unchanged, kept, and positionBefore."
    )
    var json = false

    @OptionGroup var settings: SettingsOptions

    func run() async throws {
        let (run, position) = try await self.options.records.openForWriting(
            self.settings,
            absent: .isRefused
        ) { database in
            do {
                return try await self.undo(in: database)
            } catch let error as StoreError {
                throw RecordAdvice.failure(error, doing: "the undo stops; what it wrote stays written")
            }
        }
        try self.print(run, before: position)
        try run.failures.report(
            "\(run.failures.count) records were not put back."
        )
    }

    private func undo(in database: AdministeredDatabase) async throws -> (UndoRun, Int64) {
        let past = try await self.options.past(in: database)
        let plan = try await past.plan(to: self.to, by: self.options.author(in: database.store))
        let bar = TerminalProgress()
        var run = UndoRun(
            past,
            overridesLater: self.laterSaves == .overrideLater,
            showProgress: { bar.show($0, of: $1) }
        )
        try await run.compare(plan)
        bar.clear()
        guard !self.dryRun, !run.pending.isEmpty else { return (run, past.extent.position) }
        if !self.yes {
            try Confirmation.ask(
                "This undoes \(plan.changes) changes of the zone '\(past.zone.zoneName)': \(run.counts.text).",
                name: self.options.records.container
            )
        }
        let position = try await past.position()
        try await run.write()
        bar.clear()
        return (run, position)
    }

    // MARK: Output

    private func print(_ run: UndoRun, before position: Int64) throws {
        if self.json {
            Terminal.write(try JSONText.of(Output(run, isDryRun: self.dryRun, position: position)))
        } else {
            let text = run.counts.text
            Terminal.write(
                self.dryRun ? "Would undo: \(text).\n" : text.capitalizedFirst + ".\n"
            )
            if !self.dryRun, run.counts.total > 0 {
                Terminal.write(
                    "The position before the undo is \(position). To undo it: the same command with --to \(position), "
                        + "without --by.\n"
                )
            }
        }
        for item in run.kept.prefix(Self.shownMax) {
            Terminal.writeError(
                "tidemark: the record '\(item.recordName)': \(run.past.names.shortText(of: item.laterAuthor ?? "")) changed it later, so it stays. "
                    + "To undo that too: --override-later\n"
            )
        }
        if run.counts.kept > Self.shownMax {
            Terminal.writeError("tidemark: and \(run.counts.kept - Self.shownMax) more stay.\n")
        }
    }

    private static let shownMax = 20

    private struct Output: Encodable {
        let isDryRun: Bool
        let created: Int
        let changed: Int
        let deleted: Int
        let unchanged: Int
        let kept: Int
        let keptRecords: [String]
        let positionBefore: Int64

        init(_ run: UndoRun, isDryRun: Bool, position: Int64) {
            self.isDryRun = isDryRun
            self.created = run.counts.created
            self.changed = run.counts.changed
            self.deleted = run.counts.deleted
            self.unchanged = run.counts.unchanged
            self.kept = run.counts.kept
            self.keptRecords = run.kept.map(\.recordName)
            self.positionBefore = position
        }
    }
}
