import ArgumentParser
import RecordModel
import RecordServer
import RecordStore

/// The options that every command about records takes: which database, and as whom.
struct RecordsOptions: ParsableArguments {
    enum DatabaseName: String, ExpressibleByArgument, CaseIterable {
        case `private`
        case `public`
        case shared

        var scope: DatabaseScope {
            switch self {
            case .private: .private
            case .public: .public
            case .shared: .shared
            }
        }
    }

    @Option(
        help: ArgumentHelp("The container.", valueName: "id"),
        completion: Completions.containers
    )
    var container: String

    @Option(help: "Which database.")
    var database = DatabaseName.private

    @Option(
        name: .customLong("as"),
        help: ArgumentHelp(
            "The user or service with whose rights the command acts.",
            discussion: "Without it, an operator reads all of the public database, and writes nothing.",
            valueName: "name"
        ),
        completion: Completions.users
    )
    var user: String?

    @Option(help: "The environment of the schema and the data.")
    var environment = EnvironmentName.development

    @OptionGroup var data: DataOption

    /// Opens the database, runs the body, and closes the store.
    ///
    /// `settings` are those of the rules, for a command that writes.
    func open<Result>(
        settings: Settings? = nil,
        createsDatabases: Bool = false,
        _ body: (AdministeredDatabase) async throws -> Result
    ) async throws -> Result {
        try await AdministeredStore.open(self.data.folder, settings: settings) { store in
            try await body(
                AdministeredDatabase(
                    store: store,
                    requester: try self.requester(store.directory, createsDatabases: createsDatabases),
                    folder: self.data.folder,
                    bounds: settings?.server.bounds ?? .defaults
                )
            )
        }
    }

    /// The same for a command that writes.
    ///
    /// One that saves creates the databases of a user who has not signed in yet.
    ///
    /// - Throws: `usage` without a user: a record has a modifier.
    func openForWriting<Result>(
        _ settings: SettingsOptions,
        createsDatabases: Bool,
        _ body: (AdministeredDatabase) async throws -> Result
    ) async throws -> Result {
        guard self.user != nil else {
            throw CommandFailure(
                .usage,
                "a record has a creator and a modifier: name the user or service with --as. "
                    + "To add a service for this: tidemark key add NAME --container \(self.container)"
            )
        }
        return try await self.open(
            settings: try await settings.read(),
            createsDatabases: createsDatabases,
            body
        )
    }

    private func requester(
        _ directory: Directory,
        createsDatabases: Bool
    ) throws(CommandFailure) -> Requester {
        if self.user == nil, self.database != .public {
            throw CommandFailure(
                .usage,
                "a \(self.database.rawValue) database belongs to a user: name them with --as, or say --database public."
            )
        }
        let signIn = try directory.signIn(
            as: self.user,
            toContainer: self.container,
            self.environment.environment,
            createsDatabases: createsDatabases
        )
        let database: DatabaseID? =
            switch self.database {
            case .public: signIn.publicDatabase
            case .private: signIn.privateDatabase
            case .shared: signIn.sharedDatabase
            }
        guard let database else {
            throw CommandFailure(
                .data,
                "\(self.user ?? "") has no \(self.database.rawValue) database in \(self.environment.rawValue): "
                    + "it is made at the first sign-in or save, and services have none."
            )
        }
        var requester = Requester(
            database: database,
            scope: self.database.scope,
            environment: signIn.environment,
            userRecordName: signIn.userRecordName
        )
        requester.isOperator = self.user == nil
        return requester
    }
}

/// `--zone NAME --owner NAME`, for commands that work in one zone.
struct ZoneOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The zone.", valueName: "name"), completion: Completions.zones)
    var zone: String?

    @Option(
        help: ArgumentHelp(
            "In a shared database, the user record name of the zone's owner.",
            valueName: "name"
        )
    )
    var owner: String?

    /// `nil` if no zone was named.
    var id: ZoneID? { self.zone.map { ZoneID(zoneName: $0, ownerName: self.owner ?? "") } }

    var idOrDefault: ZoneID {
        self.id ?? ZoneID(zoneName: ZoneID.defaultZoneName, ownerName: self.owner ?? "")
    }
}
