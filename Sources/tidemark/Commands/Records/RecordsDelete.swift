import Administration
import ArgumentParser
import RecordModel
import RecordStore
import StorageContract

struct RecordsDelete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete records by name, or those that a predicate finds.",
        usage: """
            tidemark records delete <names> ... [<options>]
            tidemark records delete --type <type> <predicate> [<options>]
            """,
        discussion: """
            Says how many records would go, and asks for confirmation. Records that \
            refer to them with DELETE_SELF go too. Of more than 400 records, each batch \
            of 400 is deleted for itself; if the command is interrupted, run it again.

              tidemark records delete note-1 note-2 --container iCloud.org.example.app \\
                  --as alice --zone Notes
              tidemark records delete --container iCloud.org.example.app --as alice \\
                  --type Note "isDone == 1" --dry-run
            """
    )

    @OptionGroup var options: RecordsOptions<DatabaseName>
    @OptionGroup var zone: ZoneOptions

    @Option(
        help: ArgumentHelp("Delete records of this type that the predicate finds.", valueName: "type"),
        completion: Completions.types
    )
    var type: String?

    @Flag(help: "Count the records, and delete none.")
    var dryRun = false

    @Flag(help: "Skip the confirmation.")
    var yes = false

    @Flag(help: "Print a JSON object with found and deleted.")
    var json = false

    @OptionGroup var settings: SettingsOptions

    @Argument(help: "Names of records, or with --type one predicate.")
    var targets: [String]

    func validate() throws {
        if self.type != nil, self.targets.count > 1 {
            throw ValidationError(
                "--type takes one predicate in quotes, and \(self.targets.count) are given."
            )
        }
    }

    func run() async throws {
        let query = try self.type.map { (type) throws(CommandFailure) in
            try QueryText.query(ofType: type, predicate: self.targets[0])
        }
        let (found, failures) = try await self.options.openForWriting(self.settings, absent: .isRefused) {
            database in
            do {
                return try await self.delete(query, in: database)
            } catch let error as StoreError {
                throw RecordAdvice.failure(error, doing: "nothing more is deleted")
            }
        }
        let done = found - failures.count
        if self.json {
            Terminal.write(try JSONText.of(["found": found, "deleted": self.dryRun ? 0 : done]))
        } else {
            Terminal.write((self.dryRun ? "Would delete" : "Deleted") + " \(Self.count(done)).\n")
        }
        try failures.report(of: found, done: self.dryRun ? "found" : "deleted")
    }

    private static func count(_ number: Int) -> String { "\(number) \(number == 1 ? "record" : "records")" }

    private func delete(
        _ query: Query?,
        in database: AdministeredDatabase
    ) async throws -> (found: Int, failures: ItemFailures) {
        guard let query else { return try await self.deleteNamed(in: database) }
        let found = Int(try await database.count(query, in: self.zone.id))
        guard try self.mayGoOn(found, database) else { return (found, ItemFailures()) }
        return try await database.delete(query, in: self.zone.id)
    }

    /// Deletes the named records; one that is not there is a failure.
    private func deleteNamed(
        in database: AdministeredDatabase
    ) async throws -> (found: Int, failures: ItemFailures) {
        let ids = self.targets.map { RecordID(zone: self.zone.idOrDefault, recordName: $0) }.unique
        let found = try await database.deletable(ids)
        var failures = found.failures
        if try self.mayGoOn(found.there.count, database) {
            failures.add(try await database.delete(found.there))
        }
        return (ids.count, failures)
    }

    /// Whether something is to be deleted, and the operator agrees.
    private func mayGoOn(_ found: Int, _ database: AdministeredDatabase) throws(CommandFailure) -> Bool {
        guard !self.dryRun, found > 0 else { return false }
        if !self.yes {
            let container = self.options.container
            let days = (try? database.store.directory.historyDays(ofContainer: container)) ?? 0
            let end =
                days == 0
                ? "for good."
                : "and for \(days) \(days == 1 ? "day" : "days") tidemark zone undo brings them back."
            try Confirmation.ask("This deletes \(Self.count(found)) of \(container) \(end)", name: container)
        }
        return true
    }
}
