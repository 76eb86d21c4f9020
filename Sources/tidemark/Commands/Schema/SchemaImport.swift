import Administration
import ArgumentParser
import RecordStore

struct SchemaImport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Replace development's schema, and print what changes.",
        discussion: """
            Imports all of the file or nothing. Types and fields that are not in \
            the file are removed. If production has them or records use them, \
            nothing changes. Without the type Users in the file, user records are \
            not changed.

              tidemark schema import --container iCloud.org.example.app app.ckdb
              tidemark schema import --container iCloud.org.example.app < app.ckdb

            Only `tidemark schema deploy` changes production.
            """
    )

    @OptionGroup var schema: SchemaArguments
    @OptionGroup var file: SchemaFile
    @OptionGroup var result: ResultOption

    @Option(help: "The environment, which is development.")
    var environment = ImportEnvironment(name: .development)

    func run() async throws {
        guard self.environment.name == .development else {
            throw CommandFailure(
                .usage,
                "a schema is imported to development and deployed to production: tidemark schema deploy --help"
            )
        }
        let document = try self.file.read()
        let difference = try await self.schema.open { try $0.change(.replaceDevelopment(document)) }
        try self.result.write(self.schema.result(difference)) { Terminal.write(difference.report) }
    }
}

/// An environment; the help offers development alone, and production gets an error with advice.
struct ImportEnvironment: ExpressibleByArgument {
    static var allValueStrings: [String] { [EnvironmentName.development.rawValue] }

    let name: EnvironmentName

    init(name: EnvironmentName) { self.name = name }

    init?(argument: String) {
        guard let name = EnvironmentName(rawValue: argument) else { return nil }
        self.init(name: name)
    }

    var defaultValueDescription: String { self.name.rawValue }
}

struct SchemaValidate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "validate",
        abstract: "Print what an import would change, or why it would be refused, and change nothing.",
        discussion: "  tidemark schema validate --container iCloud.org.example.app app.ckdb"
    )

    @OptionGroup var schema: SchemaArguments
    @OptionGroup var file: SchemaFile
    @OptionGroup var result: ResultOption

    func run() async throws {
        let document = try self.file.read()
        let difference = try await self.schema.open { try $0.preview(.replaceDevelopment(document)) }
        try self.result.write(self.schema.result(difference)) { Terminal.write(difference.report) }
    }
}

extension SchemaDifference {
    /// The difference as printed, with a line also if nothing changes.
    var report: String { self.isEmpty ? "Nothing changes.\n" : self.description }
}
