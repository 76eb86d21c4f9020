import Administration
import ArgumentParser
import RecordModel
import RecordStore

struct SchemaDeploy: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deploy",
        abstract: "Deploy development's schema to production, and print what changes.",
        discussion: """
            Types and fields are added, never removed or changed. Indexes, roles \
            and grants become those of development. An index on existing records \
            is built in the background, and used once it is complete. Shows the \
            changes, and asks for confirmation.

              tidemark schema deploy --container iCloud.org.example.app --dry-run
              tidemark schema deploy --container iCloud.org.example.app --yes
            """
    )

    @OptionGroup var schema: SchemaArguments

    @Flag(help: "Print what would change, and change nothing.")
    var dryRun = false

    @Flag(help: "Skip the confirmation.")
    var yes = false

    @OptionGroup var result: ResultOption

    func run() async throws {
        if !self.dryRun, !self.yes {
            let difference = try await self.schema.open { try $0.preview(.deploy) }
            guard !difference.isEmpty else {
                return try self.write(difference)
            }
            Terminal.writeError(difference.report)
            try Confirmation.ask(
                "This changes production in \(self.schema.container), and what is added stays.",
                name: self.schema.container
            )
        }
        try self.write(
            try await self.schema.open { try self.dryRun ? $0.preview(.deploy) : $0.change(.deploy) }
        )
    }

    private func write(_ difference: SchemaDifference) throws {
        try self.result.write(self.schema.result(difference)) { Terminal.write(difference.report) }
    }
}

struct SchemaDiff: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Print how a schema file, or development's schema, differs from the one in force.",
        discussion: """
            Lines begin with + (added), - (removed) or ~ (changed).

              tidemark schema diff --container iCloud.org.example.app
              tidemark schema diff --container iCloud.org.example.app \\
                  --environment production app.ckdb

            Without a file, compares production's schema with development's.
            """
    )

    @OptionGroup var schema: SchemaArguments

    @Argument(help: ArgumentHelp("A schema (.ckdb); '-' for standard input.", valueName: "file"))
    var path: String?

    @Option(help: "With a file: the environment to compare it with.")
    var environment = EnvironmentName.development

    @OptionGroup var result: ResultOption

    func run() async throws {
        let document = try self.path.map { path in
            var file = SchemaFile()
            file.path = path
            return try file.read()
        }
        let difference = try await self.schema.open { container in
            guard let document else { return try container.undeployed() }
            return try container.difference(of: document, from: self.environment.environment)
        }
        try self.result.write(self.schema.result(difference)) {
            Terminal.write(difference.isEmpty ? "No difference.\n" : difference.description)
        }
    }
}
