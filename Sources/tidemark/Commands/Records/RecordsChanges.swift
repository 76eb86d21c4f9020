import Administration
import ArgumentParser
import Foundation
import RecordJSON
import RecordModel
import RecordStore
import StorageContract

struct RecordsChanges: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "changes",
        abstract: "Print what changed in a zone, and the token for the next call.",
        discussion: """
            Without --since, prints all records of the zone. Deletions have \
            "deleted":true. The last line has "syncToken", which is the --since of the \
            next call. With --follow, goes on until it is interrupted, with a token \
            behind each group of changes. A token is for this zone and this user. It \
            expires as a client's does, and then the command exits with 65.

              tidemark records changes --container iCloud.org.example.app --as alice \\
                  --zone Notes --since "$TOKEN" --follow
            """
    )

    /// The time that `--follow` waits when nothing has changed.
    private static let pause = Duration.milliseconds(500)

    @OptionGroup var options: RecordsOptions<DatabaseName>
    @OptionGroup var zone: ZoneOptions

    @Option(help: ArgumentHelp("The token of an earlier call.", valueName: "token"))
    var since: String?

    @Flag(help: "Go on, and print changes as they come.")
    var follow = false

    @OptionGroup var format: RecordFormat

    func run() async throws {
        let since = try self.since.map { (text) throws(CommandFailure) in
            guard let token = TokenText.bytes(text) else {
                throw CommandFailure(
                    .data,
                    "--since is no token: pass what an earlier call printed as syncToken."
                )
            }
            return token
        }
        try await self.options.open { database in
            var printer = RecordPrinter(
                self.format.isTable ? .table(fields: nil) : .jsonLines(self.format.dateForm.dates)
            )
            var read = FeedRead(zone: self.zone.idOrDefault, token: since)
            var printed: [UInt8]?
            while true {
                let (page, end) = try await self.page(read, database)
                let isEmpty = page.records.isEmpty && page.deletions.isEmpty
                if !page.records.isEmpty { printer.print(page.records) }
                if !page.deletions.isEmpty { printer.print(deleted: page.deletions) }
                read.token = end.token
                if end.moreComing { continue }
                // A token moves with every change of the database; of another zone it says nothing.
                if !isEmpty || printed == nil {
                    self.print(token: end.token)
                    printed = end.token
                }
                guard self.follow else { return }
                try await Task.sleep(for: Self.pause)
            }
        }
    }

    private func page(
        _ read: FeedRead,
        _ database: AdministeredDatabase
    ) async throws -> (FeedItems, FeedPageEnd) {
        do {
            return try await database.changes(read)
        } catch let error as StoreError {
            throw RecordAdvice.failure(error, doing: "the changes cannot be read")
        }
    }

    private func print(token: [UInt8]) {
        guard !self.format.isTable else { return Terminal.write("TOKEN  \(TokenText.text(token))\n") }
        var output = JSONOutput()
        output.object { $0.member("syncToken", TokenText.text(token)) }
        Terminal.write(output.text + [UInt8(ascii: "\n")])
    }
}
