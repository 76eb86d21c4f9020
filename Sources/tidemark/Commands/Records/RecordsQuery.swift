import Administration
import ArgumentParser
import Console
import RecordJSON
import RecordModel
import RecordStore
import StorageContract

struct RecordsQuery: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "query",
        abstract: "Print the records that a predicate finds.",
        discussion: """
            Prints a table on a terminal, and JSON lines elsewhere. The pages of a long \
            query are read one after the other, each as of its moment. Fields need the \
            same indexes as for a client. Without a predicate, finds all records.

              tidemark records query --container iCloud.org.example.app --as alice \\
                  --type Note "isDone == 0" --sort ___modTime:desc --limit 20
              tidemark records query --container iCloud.org.example.app \\
                  --database public --type Post --csv > posts.csv
            """
    )

    @OptionGroup var options: RecordsOptions<DatabaseName>
    @OptionGroup var zone: ZoneOptions

    @Option(help: ArgumentHelp("The record type.", valueName: "type"), completion: Completions.types)
    var type: String

    @Option(help: ArgumentHelp("A field to sort by; behind ':desc' descending.", valueName: "field"))
    var sort: [String] = []

    @Option(help: ArgumentHelp("Only these fields, separated by commas.", valueName: "names"))
    var fields: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The most records to print. (default: all)", valueName: "number")
    )
    var limit: Int?

    @OptionGroup var format: RecordFormat

    @Flag(help: "Print a table in CSV, with the type of each column in its title.")
    var csv = false

    @Argument(help: "The condition, in the format language of NSPredicate.")
    var predicate = "TRUEPREDICATE"

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit is \(limit): say 1 or more.") }
        if self.csv, self.format.json { throw ValidationError("--json and --csv exclude each other.") }
    }

    func run() async throws {
        let query = try QueryText.query(ofType: self.type, predicate: self.predicate, sort: self.sort)
        let names = self.fields?.split(separator: ",").map { $0.trimmed }
        try await self.options.open { database in
            var printer = RecordPrinter(try self.form(names, database.store))
            var read = QueryRead(query: query, zone: self.zone.id, desiredKeys: names)
            var left = self.limit ?? .max
            do {
                repeat {
                    read.limit = min(left, Bounds.queryPageMax)
                    let page = try await database.page(read)
                    if !page.records.isEmpty { printer.print(page.records) }
                    left -= page.records.count
                    read.resume = page.end.resume
                } while read.resume != nil && left > 0
            } catch let error as StoreError {
                throw RecordAdvice.failure(error, doing: "the query is refused")
            }
            printer.finish()
        }
    }

    private func form(_ names: [String]?, _ store: Store) throws -> RecordPrinter.Form {
        let dates = self.format.dateForm.dates
        guard self.csv else { return self.format.isTable ? .table(fields: names) : .jsonLines(dates) }
        let container = AdministeredContainer(self.options.container, in: store)
        // Without encrypted fields, which a table cannot say.
        let declared = RecordColumns.all(
            of: try container.schema(of: self.options.environment.environment)[self.type]
        )
        guard let names else { return .csv(RecordTable(columns: declared, dates: dates)) }
        var columns: [RecordTable.Column] = []
        for name in names {
            guard let column = declared.first(where: { $0.field == name }) else {
                throw CommandFailure(.data, "--fields: the type \(self.type) has no field '\(name)'.")
            }
            columns.append(column)
        }
        return .csv(RecordTable(columns: columns, dates: dates))
    }
}

extension Substring {
    var trimmed: String {
        String(self.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
