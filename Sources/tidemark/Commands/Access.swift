import ArgumentParser
import RecordModel
import RecordStore

/// The command `tidemark access`.
struct Access: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "access",
        abstract: "Show who may do what with a record, and why.",
        discussion: """
            For a record in a private database, lists its owner and the participants of its share, also those \
            who have not joined. For one in the public database, lists the roles in the grants of its type.

              tidemark access task-1 --container iCloud.org.example.app \\
                  --user alice --zone Notes
              tidemark access news-7 --container iCloud.org.example.app \\
                  --environment production
            """
    )

    @Argument(help: "The record's name.")
    var record: String

    @Option(help: ArgumentHelp("The container.", valueName: "id"), completion: Completions.containers)
    var container: String

    @Option(
        help: ArgumentHelp("The user of a private database; without it, the public one.", valueName: "name"),
        completion: Completions.users
    )
    var user: String?

    @Option(help: "The zone.", completion: Completions.zones)
    var zone = ZoneID.defaultZoneName

    @Option(help: "Whose data.")
    var environment = EnvironmentName.development

    @OptionGroup var data: DataOption

    @Flag(help: "Print a JSON object with recordType and access, an array of objects with may, who and why.")
    var json = false

    func run() async throws {
        let report = try await AdministeredStore.open(self.data.folder) { store in
            try await self.report(of: store)
        }
        guard let report else {
            throw CommandFailure(.data, "there is no record \(self.record) in the zone \(self.zone).")
        }
        if self.json {
            Terminal.write(try JSONText.of(Output(report)))
        } else {
            Terminal.write(
                Terminal.table(
                    header: ["WHO", "MAY", "WHY"],
                    rows: report.lines.map { [$0.who, $0.may.words.joined(separator: " "), $0.why] }
                )
            )
        }
    }

    private func report(of store: Store) async throws -> AccessReport? {
        let signIn: SignIn
        do {
            signIn = try store.directory.account(
                named: self.user,
                ofContainer: self.container,
                environment: self.environment.environment
            )
        } catch {
            throw DirectoryAdvice.failure(error, container: self.container, user: self.user)
        }
        guard let database = self.user == nil ? signIn.publicDatabase : signIn.privateDatabase else {
            throw CommandFailure(
                .data,
                "\(self.user ?? "") has never signed in, or is a service: there is no record."
            )
        }
        let requester = Requester(
            database: database,
            scope: self.user == nil ? .public : .private,
            environment: signIn.environment,
            userRecordName: signIn.userRecordName
        )
        let id = RecordID(zone: ZoneID(zoneName: self.zone), recordName: self.record)
        let result = await withCheckedContinuation { continuation in
            store.accessReport(on: id, in: requester) { continuation.resume(returning: $0) }
        }
        switch result {
        case .success(let report): return report
        case .failure: throw CommandFailure(.unavailable, "the store cannot be read now. Try again.")
        }
    }

    private struct Output: Encodable {
        struct Line: Encodable {
            let who: String
            let may: [String]
            let why: String
        }

        let recordType: String
        let access: [Line]

        init(_ report: AccessReport) {
            self.recordType = report.recordType
            self.access = report.lines.map { Line(who: $0.who, may: $0.may.words, why: $0.why) }
        }
    }
}

extension Permissions {
    fileprivate var words: [String] {
        let all: [(Permissions, String)] = [(.read, "read"), (.create, "create"), (.write, "write")]
        return all.filter { self.contains($0.0) }.map(\.1)
    }
}
