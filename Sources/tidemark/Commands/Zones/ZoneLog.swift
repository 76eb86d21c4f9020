import Administration
import ArgumentParser
import RecordJSON
import RecordModel
import RecordStore
import StorageContract

struct ZoneLog: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "List the changes of a zone: who changed which record when.",
        discussion: """
            The oldest change comes first. USER is the name of a user, or the user record \
            name of one who is deleted, and INSTALLATION the program of that user on one \
            machine. With --json, prints an object a line.

              tidemark zone log --container iCloud.org.example.app --as alice \\
                  --zone Notes --since 2h
              tidemark zone log --container iCloud.org.example.app --database public \\
                  --since 2026-11-26T09:00:00Z --by bob --json
            """
    )

    @OptionGroup var options: HistoryOptions

    @Option(
        help: ArgumentHelp("Only changes behind this: \(PointInTime.help).", valueName: "point")
    )
    var since: PointInTime?

    @Option(
        help: ArgumentHelp("Only changes up to this, in the same forms.", valueName: "point")
    )
    var until: PointInTime?

    @Option(help: ArgumentHelp("Only changes of this record.", valueName: "name"))
    var record: String?

    @Flag(help: "Print JSON lines.")
    var json = false

    func run() async throws {
        try await self.options.records.open { database in
            let past = try await self.options.past(in: database)
            let author = try self.options.author(in: database.store)
            var begin = past.extent.since
            if case .position(let position)? = self.since { begin = max(begin, position) }
            if !self.json { Terminal.write(self.header(past.extent)) }
            try await past.forEachChange(after: begin) { change in
                if self.isMeant(change, by: author) { self.print(change, past.names) }
            }
        }
    }

    private func isMeant(_ change: PastChange, by author: ChangeAuthor?) -> Bool {
        if let author, !author.made(change) { return false }
        if let record, !ExactName.areSame(change.recordName, record) { return false }
        if let since, !since.isBefore(change) { return false }
        return self.until.map { !$0.isBefore(change) } ?? true
    }

    // MARK: Output

    private func header(_ extent: HistoryExtent) -> String {
        "The history begins at \(extent.sinceMilliseconds.timeText), at the position \(extent.since).\n"
            + Self.line(["POSITION", "TIME", "USER", "INSTALLATION", "CHANGE", "TYPE", "NAME"])
    }

    /// Widths of all columns but the last: positions grow, and names may be longer.
    private static let widths = [12, 20, 33, 32, 7, 16]

    private static func line(_ cells: [String]) -> String {
        var line = ""
        for (column, cell) in cells.enumerated() {
            line += cell
            guard column < self.widths.count else { break }
            line += String(repeating: " ", count: max(0, self.widths[column] - cell.count) + 2)
        }
        return line + "\n"
    }

    private func print(_ change: PastChange, _ names: AccountNames) {
        guard self.json else {
            return Terminal.write(
                Self.line([
                    String(change.position), change.milliseconds.timeText, names.shortText(of: change.author),
                    change.installation.isEmpty ? "-" : change.installation.hexadecimal,
                    change.kind.word, change.recordType, change.recordName,
                ])
            )
        }
        var output = JSONOutput()
        output.object { object in
            object.member("position", literal: String(change.position))
            object.member("time", change.milliseconds.timeText)
            object.member("user", change.author)
            if let name = names.name(of: change.author) { object.member("userName", name) }
            if !change.installation.isEmpty {
                object.member("installation", change.installation.hexadecimal)
            }
            object.member("change", change.kind.word)
            object.member("recordType", change.recordType)
            object.member("recordName", change.recordName)
        }
        Terminal.write(output.text + [UInt8(ascii: "\n")])
    }
}

extension RecordChangeKind {
    fileprivate var word: String {
        switch self {
        case .created: "created"
        case .updated: "updated"
        case .deleted: "deleted"
        }
    }
}

extension [UInt8] {
    fileprivate var hexadecimal: String {
        self.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
