import Administration
import ArgumentParser
import RecordJSON
import RecordModel
import RecordStore

struct ZoneDiff: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "List what an undo of a zone would do, record by record.",
        discussion: """
            "+" is a record that an undo makes again, "~" one that it changes back, with \
            the names of the fields, and "-" one that it deletes. "=" is a record that \
            --by leaves as it is, because somebody else changed it later. With --json, \
            prints an object a line.

              tidemark zone diff --container iCloud.org.example.app --as alice \\
                  --zone Notes --to 2h
            """
    )

    @OptionGroup var options: HistoryOptions

    @Option(help: ArgumentHelp("Compare with how the zone was at \(PointInTime.help).", valueName: "point"))
    var to: PointInTime

    @Flag(help: "Print JSON lines.")
    var json = false

    func run() async throws {
        try await self.options.records.open { database in
            let past = try await self.options.past(in: database)
            let plan = try await past.plan(to: self.to, by: self.options.author(in: database.store))
            let bar = TerminalProgress()
            var run = UndoRun(past, overridesLater: false, showProgress: { bar.show($0, of: $1) })
            try await run.compare(plan) { self.print($0, past.names) }
            bar.clear()
            if !self.json { Terminal.write("\(run.counts.text.capitalizedFirst).\n") }
        }
    }

    private func print(_ compared: ComparedItem, _ names: AccountNames) {
        let isKept = compared.isKept(overridingLater: false)
        var fields: [String] = []
        let (mark, word): (String, String)
        switch compared.step {
        case .none: return
        case .refuse: (mark, word) = ("!", "refuse")
        case _ where isKept: (mark, word) = ("=", "keep")
        case .create: (mark, word) = ("+", "create")
        case .delete: (mark, word) = ("-", "delete")
        case .change(_, let names):
            (mark, word) = ("~", "change")
            fields = names
        }
        let item = compared.item
        guard self.json else {
            let text = "\(mark) \(item.recordType) \(item.recordName)"
            let detail =
                isKept
                ? ": changed later by \(names.shortText(of: item.laterAuthor ?? ""))"
                : fields.isEmpty ? "" : ": " + fields.joined(separator: ", ")
            return Terminal.write(text + detail + "\n")
        }
        var output = JSONOutput()
        output.object { object in
            object.member("change", word)
            object.member("recordType", item.recordType)
            object.member("recordName", item.recordName)
            if !fields.isEmpty { object.member("fields", fields.joined(separator: " ")) }
            guard isKept, let author = item.laterAuthor else { return }
            object.member("laterUser", author)
            if let name = names.name(of: author) { object.member("laterUserName", name) }
        }
        Terminal.write(output.text + [UInt8(ascii: "\n")])
    }
}

extension String {
    var capitalizedFirst: String { self.prefix(1).uppercased() + self.dropFirst() }
}
