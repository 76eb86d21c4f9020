import Administration
import ArgumentParser
import RecordModel
import RecordServer
import RecordStore

/// The databases that the help of a command offers.
protocol DatabaseNaming: ExpressibleByArgument, CaseIterable, RawRepresentable<String>, Sendable {
    static var `private`: Self { get }
    var scope: DatabaseScope { get }
}

enum DatabaseName: String, DatabaseNaming {
    case `private`
    case `public`
    case shared

    init(_ scope: DatabaseScope) {
        switch scope {
        case .private: self = .private
        case .public: self = .public
        case .shared: self = .shared
        }
    }

    var scope: DatabaseScope {
        switch self {
        case .private: .private
        case .public: .public
        case .shared: .shared
        }
    }
}

/// For commands about whole zones: a shared database has only zones of other users.
enum OwnDatabaseName: String, DatabaseNaming {
    case `private`
    case `public`

    var scope: DatabaseScope { self == .private ? .private : .public }
}

/// The options that every command about records takes: the database, and the user to act as.
struct RecordsOptions<Name: DatabaseNaming>: ParsableArguments {
    @Option(help: .container, completion: Completions.containers)
    var container = ""

    @Option(help: "Which database.")
    var database = Name.private

    @Option(
        name: .customLong("as"),
        help: ArgumentHelp(
            "The user or service with whose rights the command acts.",
            discussion: """
                Without it TIDEMARK_AS; to read a private or shared database, the only user of the container. \
                Without any, an operator reads all of the public database, and writes nothing.
                """,
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
        absent: AbsentDatabase = .isRefused,
        _ body: (AdministeredDatabase) async throws -> Result
    ) async throws -> Result {
        try await AdministeredStore.open(self.data.folder, settings: settings) { store in
            try await body(
                AdministeredDatabase(
                    store: store,
                    requester: try self.selection.requester(in: store, absent: absent),
                    folder: self.data.folder,
                    bounds: settings?.server.bounds ?? .defaults
                )
            )
        }
    }

    /// The same for a command that writes.
    ///
    /// One that saves makes the databases of a user who has not signed in yet.
    ///
    /// - Throws: `usage` without a user: a record has a modifier.
    func openForWriting<Result>(
        _ settings: SettingsOptions,
        absent: AbsentDatabase,
        _ body: (AdministeredDatabase) async throws -> Result
    ) async throws -> Result {
        guard self.user != nil else {
            throw CommandFailure(
                .usage,
                "a record has a creator and a modifier: name the user or service with --as, or in TIDEMARK_AS. "
                    + "To add a service for this: tidemark key add NAME --container \(self.container)"
            )
        }
        return try await self.open(
            settings: try await settings.read(beside: self.data.folder),
            absent: absent,
            body
        )
    }

    private var selection: DatabaseSelection {
        DatabaseSelection(
            container: self.container,
            scope: self.database.scope,
            user: self.user,
            environment: self.environment.environment
        )
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
