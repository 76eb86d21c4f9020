import Administration
import ArgumentParser

struct ContainerHistory: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Keep what changes of records replace for some days, so that they can be undone.",
        discussion: """
            Without --days, prints the number of days. 0 is the default: no history. The \
            history of a zone begins with its next change. It counts for the quotas of \
            users, as their records do. Fewer days, and 0, remove what is older within an \
            hour; files of assets follow after their grace time.

              tidemark container history iCloud.org.example.app --days 30
              tidemark container history iCloud.org.example.app
            """
    )

    /// Ten years.
    private static let daysMax = 3_650

    @Argument(help: "The container.", completion: Completions.containers)
    var identifier: String

    @Option(help: ArgumentHelp("How many days the history goes back; 0 for none.", valueName: "days"))
    var days: Int?

    @OptionGroup var data: DataOption

    @Flag(help: "Skip the confirmation of fewer days.")
    var yes = false

    @Flag(help: "Print a JSON object with container and historyDays.")
    var json = false

    func validate() throws {
        if let days, !(0...Self.daysMax).contains(days) {
            throw ValidationError("--days is 0 to \(Self.daysMax), and not \(days).")
        }
    }

    func run() async throws {
        let days = try await AdministeredStore.open(self.data.folder) { store in
            try self.change(AdministeredContainer(self.identifier, in: store))
        }
        if self.json {
            Terminal.write(try JSONText.of(Output(container: self.identifier, historyDays: days)))
        } else {
            Terminal.write(
                days == 0
                    ? "\(self.identifier) keeps no history.\n"
                    : "\(self.identifier) keeps a history of \(days) \(days == 1 ? "day" : "days").\n"
            )
        }
    }

    /// Sets the days if some were given, and returns the days in force.
    private func change(_ container: AdministeredContainer) throws -> Int {
        let before = try container.historyDays()
        guard let days else { return before }
        if days < before, !self.yes {
            try Confirmation.ask(
                "This removes what the history of \(self.identifier) has from more than \(days) days ago, for good.",
                name: self.identifier
            )
        }
        try container.setHistoryDays(days)
        return days
    }

    private struct Output: Encodable {
        let container: String
        let historyDays: Int
    }
}
