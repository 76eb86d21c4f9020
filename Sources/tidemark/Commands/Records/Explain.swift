import Administration
import ArgumentParser
import RecordModel
import RecordServer
import RecordStore
import StorageContract

/// The command `tidemark explain`.
struct Explain: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Show how a query is executed: the plan, what is read and what is returned.",
        discussion: """
            Runs the first page of a query on the files of a data folder, without \
            changing anything. Works while the server runs. Without a predicate, \
            the query is for all records.

              tidemark explain --container iCloud.org.example.app --as alice \\
                  --type Note "isDone == 0 AND due < now()" --sort due
              tidemark explain --container iCloud.org.example.app --database public \\
                  --type Post "self CONTAINS 'swift'" --sort ___createTime:desc
            """
    )

    @Option(help: .container, completion: Completions.containers)
    var container = ""

    @Option(help: "The environment of the schema and the data.")
    var environment = EnvironmentName.development

    @Option(help: "Which database.")
    var database = OwnDatabaseName.private

    @Option(
        name: .customLong("as"),
        help: ArgumentHelp(
            "The user of the private database, or the requester of the public one.",
            valueName: "name"
        ),
        completion: Completions.users
    )
    var user: String?

    @Option(help: ArgumentHelp("One zone instead of all.", valueName: "name"), completion: Completions.zones)
    var zone: String?

    @Option(help: ArgumentHelp("The record type.", valueName: "type"), completion: Completions.types)
    var type: String

    @Option(help: ArgumentHelp("A field to sort by; behind ':desc' descending.", valueName: "field"))
    var sort: [String] = []

    @Option(parsing: .unconditional, help: "Records of the page, 1 to \(Bounds.queryPageMax).")
    var limit = 100

    @OptionGroup var data: DataOption
    @OptionGroup var result: ResultOption

    @Argument(help: "The condition, in the format language of NSPredicate.")
    var predicate = "TRUEPREDICATE"

    func run() async throws {
        guard (1...Bounds.queryPageMax).contains(self.limit) else {
            throw CommandFailure(.usage, "--limit is \(self.limit): say 1 to \(Bounds.queryPageMax).")
        }
        let query = try QueryText.query(ofType: self.type, predicate: self.predicate, sort: self.sort)
        let result = try await AdministeredStore.open(self.data.folder) { store in
            let requester = try self.requester(AdministeredContainer(self.container, in: store))
            let read = QueryRead(
                query: query,
                zone: self.zone.map { ZoneID(zoneName: $0) },
                limit: self.limit
            )
            return await withCheckedContinuation { continuation in
                store.query(read, for: requester, into: Dropped()) { continuation.resume(returning: $0) }
            }
        }
        switch result {
        case .success(let page): try self.print(page, of: query)
        case .failure(let error): throw CommandFailure(.data, "the query is refused: \(error.row.text).")
        }
    }

    private func requester(_ container: AdministeredContainer) throws -> Requester {
        let signIn = try container.signIn(as: self.user, self.environment.environment)
        guard self.database == .private else {
            return Requester(
                database: signIn.publicDatabase,
                scope: .public,
                environment: signIn.environment,
                userRecordName: signIn.userRecordName
            )
        }
        guard let user = self.user else {
            throw CommandFailure(.usage, "a private database belongs to a user: name them with --as.")
        }
        guard let database = signIn.privateDatabase else {
            throw CommandFailure(
                .data,
                "\(user) has no private database yet: it is made at the first sign-in."
            )
        }
        return Requester(
            database: database,
            scope: .private,
            environment: signIn.environment,
            userRecordName: signIn.userRecordName
        )
    }

    /// The records are not shown.
    private final class Dropped: RecordSink {
        func enter(_ zone: ZoneID) {}
        func add(_ record: borrowing LentRecord) {}
        func removeAll() {}
    }

    private struct Output: Encodable {
        let plan: [String]
        let entriesRead: Int
        let recordsRead: Int
        let comparisons: Int
        let records: Int
        let hasMore: Bool
    }

    private func print(_ page: QueryPageResult, of query: Query) throws {
        let plan = page.plan.lines(sort: query.sort)
        let output = Output(
            plan: plan,
            entriesRead: page.entriesRead,
            recordsRead: page.recordsRead,
            comparisons: page.comparisons,
            records: page.recordCount,
            hasMore: page.resume != nil
        )
        try self.result.write(output) { self.printText(page, plan) }
    }

    private func printText(_ page: QueryPageResult, _ plan: [String]) {
        var lines = plan.map { "plan      \($0)" }
        let read = "\(page.entriesRead) index entries, \(page.recordsRead) records"
        lines.append("read      \(read), \(page.comparisons) comparisons")
        let more = page.resume == nil ? "no more" : "and more behind them"
        lines.append("returned  \(page.recordCount) records, \(more)")
        Terminal.write(lines.joined(separator: "\n") + "\n")
    }
}
