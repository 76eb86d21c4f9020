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

    func use<Result>(_ body: (SchemaStore) throws -> Result) async throws -> Result {
        try await AdministeredStore.useSchemas(self.data.folder, body) { error in
            SchemaAdvice.failure(error, container: self.container)
        }
    }

    func result(_ difference: SchemaDifference) -> SchemaResult {
        SchemaResult(difference, container: self.container)
    }

    /// Makes a change, or only plans it, and returns the difference.
    func change(_ change: SchemaChange, isDryRun: Bool = false) async throws -> SchemaDifference {
        try await self.use { schemas in
            isDryRun
                ? try schemas.preview(change, inContainer: self.container)
                : try schemas.apply(change, inContainer: self.container)
        }
    }
}

/// `--environment development|production`.
enum EnvironmentName: String, ExpressibleByArgument, CaseIterable {
    case development
    case production

    var environment: Environment {
        switch self {
        case .development: .development
        case .production: .production
        }
    }
}
