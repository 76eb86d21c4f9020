import Administration
import ArgumentParser
import RecordModel
import RecordStore
import StorageContract

/// The options of a command about one record: its name, and where it is.
struct OneRecordOptions: ParsableArguments {
    @Argument(help: "The record's name.")
    var record: String

    @Option(help: .container, completion: Completions.containers)
    var container = ""

    @Option(
        name: .customLong("as"),
        help: ArgumentHelp(
            "The user of a private database.",
            discussion: "Without it TIDEMARK_AS; without that, the public database.",
            valueName: "name"
        ),
        completion: Completions.users
    )
    var user: String?

    @Option(help: "The zone.", completion: Completions.zones)
    var zone = ZoneID.defaultZoneName

    @Option(help: "Whose data.")
    var environment = EnvironmentName.development

    @OptionGroup var data: DataOption

    /// Opens the store, and reads something about the record for an operator, and who is called what.
    ///
    /// - Throws: `CommandFailure`, also if the read fails.
    func open<Value: Sendable>(
        _ read: (Store, RecordID, Requester) async -> Result<Value, StoreError>
    ) async throws -> (value: Value, names: AccountNames) {
        try await AdministeredStore.open(self.data.folder) { store in
            let container = AdministeredContainer(self.container, in: store)
            let requester = try self.requester(container)
            let id = RecordID(zone: ZoneID(zoneName: self.zone), recordName: self.record)
            switch await read(store, id, requester) {
            case .success(let value):
                return (value, try AccountNames(of: container))
            case .failure(.recordMissing), .failure(.zoneMissing): throw self.missing
            case .failure(let error):
                guard case .never = error.row.retry else {
                    throw CommandFailure(.unavailable, "the store cannot be read now. Try again.")
                }
                throw CommandFailure(.data, "\(error.row.text).")
            }
        }
    }

    var missing: CommandFailure {
        let record = "there is no record \(self.record) in the zone \(self.zone)"
        guard let user else {
            return CommandFailure(
                .data,
                "\(record) of the public database. For a record in a private database name its owner with --as, or in "
                    + "\(DefaultOptions.userVariable)."
            )
        }
        return CommandFailure(.data, "\(record) of the private database of \(user).")
    }

    /// An operator who looks at the database.
    private func requester(_ container: AdministeredContainer) throws -> Requester {
        let signIn = try container.signIn(as: self.user, self.environment.environment)
        guard let database = self.user == nil ? signIn.publicDatabase : signIn.privateDatabase else {
            throw CommandFailure(
                .data,
                "\(self.user ?? "") has never signed in, or is a service: there is no record."
            )
        }
        var requester = Requester(
            database: database,
            scope: self.user == nil ? .public : .private,
            environment: signIn.environment,
            userRecordName: signIn.userRecordName
        )
        requester.isOperator = true
        return requester
    }
}
