import Administration
import ArgumentParser
import FileIO
import Foundation
import RecordStore

struct SchemaExport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Print the schema of an environment.",
        discussion: """
              tidemark schema export --container iCloud.org.example.app > app.ckdb
              tidemark schema export --container iCloud.org.example.app \\
                  --environment production --output production.ckdb
            """
    )

    @OptionGroup var schema: SchemaArguments

    @Option(help: "Whose schema.")
    var environment = EnvironmentName.development

    @Option(help: ArgumentHelp("Write a file instead.", valueName: "file"))
    var output: String?

    func run() async throws {
        let text = try await self.schema.open { container in
            try container.schema(of: self.environment.environment).text
        }
        guard let output = self.output else {
            Terminal.write(text)
            return
        }
        do {
            try Data(text.utf8).write(to: URL(fileURLWithPath: output), options: .atomic)
        } catch {
            throw CommandFailure(
                .cannotCreate,
                "\(output) cannot be written: \(FileError.reason(error)). Name another file with --output."
            )
        }
    }
}
