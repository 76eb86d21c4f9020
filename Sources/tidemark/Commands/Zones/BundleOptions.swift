import Administration
import ArgumentParser
import RecordModel
import RecordServer
import RecordStore
import StorageContract

/// The database with the zones of a bundle: that of a user, or the public one.
struct BundleOptions: ParsableArguments {
    @Option(help: .container, completion: Completions.containers)
    var container = ""

    @Option(
        name: .customLong("as"),
        help: ArgumentHelp(
            "The user with the private database.",
            discussion: "In an import into the public one: the user or service that saves.",
            valueName: "name"
        ),
        completion: Completions.users
    )
    var user: String?

    @Option(help: "Which database.")
    var database = OwnDatabaseName.private

    @Option(help: "The environment of the schema and the data.")
    var environment = EnvironmentName.development

    @OptionGroup var data: DataOption

    /// Opens the database, runs the body, and closes the store.
    ///
    /// `settings` are those of the rules, for a command that writes. With `createsDatabases`, a user who
    /// has not signed in yet gets their databases. Without it, `isDryRun` gives such a user a database
    /// without zones, and otherwise the user is an error.
    func open<Result>(
        settings: Settings? = nil,
        createsDatabases: Bool = false,
        isDryRun: Bool = false,
        _ body: (AdministeredDatabase) async throws -> Result
    ) async throws -> Result {
        try await AdministeredStore.open(self.data.folder, settings: settings) { store in
            try await body(
                AdministeredDatabase(
                    store: store,
                    requester: try self.requester(
                        AdministeredContainer(self.container, in: store),
                        createsDatabases: createsDatabases,
                        isDryRun: isDryRun
                    ),
                    folder: self.data.folder,
                    bounds: settings?.server.bounds ?? .defaults
                )
            )
        }
    }

    var isPublic: Bool { self.database == .public }

    private func requester(
        _ container: AdministeredContainer,
        createsDatabases: Bool,
        isDryRun: Bool
    ) throws -> Requester {
        let signIn = try container.signIn(
            as: self.user,
            self.environment.environment,
            createsDatabases: createsDatabases && !self.isPublic
        )
        guard !self.isPublic else {
            return Requester(
                database: signIn.publicDatabase,
                scope: .public,
                environment: signIn.environment,
                userRecordName: signIn.userRecordName
            )
        }
        guard let database = signIn.privateDatabase ?? (isDryRun ? .assumed : nil) else {
            throw CommandFailure(
                .data,
                "\(self.user ?? "") has no private database in \(self.environment.rawValue): "
                    + "it is made at the first sign-in or import, and services have none."
            )
        }
        return Requester(
            database: database,
            scope: .private,
            environment: signIn.environment,
            userRecordName: signIn.userRecordName
        )
    }
}
