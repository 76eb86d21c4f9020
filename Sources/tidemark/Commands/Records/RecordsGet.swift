import Administration
import ArgumentParser
import RecordModel
import RecordStore
import StorageContract

struct RecordsGet: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Print records by name.",
        discussion: """
            Prints a table on a terminal, and JSON lines elsewhere, in the order of the \
            names. Exits with 65 if one of the records is not there, after printing the \
            others.

              tidemark records get note-1 note-2 --as alice --zone Notes --json \\
                  --container iCloud.org.example.app
            """
    )

    @OptionGroup var options: RecordsOptions<DatabaseName>
    @OptionGroup var zone: ZoneOptions
    @OptionGroup var format: RecordFormat

    @Argument(help: "Names of records.")
    var names: [String]

    func run() async throws {
        let missing = try await self.options.open { database in
            var printer = RecordPrinter(
                self.format.isTable ? .table(fields: nil) : .jsonLines(self.format.dateForm.dates)
            )
            var failures = ItemFailures()
            for start in stride(from: 0, to: self.names.count, by: Bounds.defaults.requestItemsMax) {
                let end = min(start + Bounds.defaults.requestItemsMax, self.names.count)
                let names = self.names[start..<end]
                let ids = names.map { RecordID(zone: self.zone.idOrDefault, recordName: $0) }
                do {
                    for (name, outcome) in zip(names, try await database.fetch(ids)) {
                        switch outcome {
                        case .record(let record): printer.print([record])
                        case .failed(let error): failures.add(ItemFailure(record: name, error: error))
                        case .zone, .shareMetadata, .identity, .explanation: continue
                        }
                    }
                } catch let error as StoreError {
                    throw RecordAdvice.failure(error, doing: "the records cannot be read")
                }
            }
            return failures
        }
        try missing.report(of: self.names.count, done: "printed")
    }
}
