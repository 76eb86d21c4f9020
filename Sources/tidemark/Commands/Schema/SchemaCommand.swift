import Administration
import ArgumentParser
import RecordModel
import RecordStore

/// The command `tidemark schema`.
struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Export, import, compare, deploy and reset the schemas of a container.",
        discussion: """
            Schemas are in the CloudKit Schema Language (.ckdb). Saves define types \
            and fields in development only; production gets them by a deploy. Every \
            command works while the server runs.

              tidemark schema export --container iCloud.org.example.app > app.ckdb
              tidemark schema import --container iCloud.org.example.app app.ckdb
              tidemark schema diff --container iCloud.org.example.app
              tidemark schema deploy --container iCloud.org.example.app --dry-run
            """,
        subcommands: [
            SchemaExport.self, SchemaImport.self, SchemaValidate.self, SchemaDiff.self, SchemaDeploy.self,
            SchemaReset.self,
        ]
    )
}

/// `--container ID --data DIR`, which every command about schemas takes.
struct SchemaArguments: ParsableArguments {
    @Option(help: .container, completion: Completions.containers)
    var container = ""

    @OptionGroup var data: DataOption

    /// Opens the store for something about the schemas.
    func open<Value>(_ body: (AdministeredContainer) throws -> Value) async throws -> Value {
        try await AdministeredStore.open(self.data.folder) { store in
            try body(AdministeredContainer(self.container, in: store))
        }
    }

    func result(_ difference: SchemaDifference) -> SchemaResult {
        SchemaResult(difference, container: self.container)
    }
}

/// `--environment development|production`.
enum EnvironmentName: String, ExpressibleByArgument, CaseIterable {
    case development
    case production

    init(_ environment: Environment) {
        switch environment {
        case .development: self = .development
        case .production: self = .production
        }
    }

    var environment: Environment {
        switch self {
        case .development: .development
        case .production: .production
        }
    }
}
