import Administration
import ArgumentParser
import RecordStore

struct SchemaReset: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset",
        abstract: "Replace development's schema by production's, and delete all of development's data.",
        discussion: """
            Deletes every zone and record of development, in all databases of the \
            container. Users and their tokens are kept. Production is not touched.

              tidemark schema reset --container iCloud.org.example.app --yes
            """
    )

    @OptionGroup var schema: SchemaArguments

    @Flag(help: "Skip the confirmation.")
    var yes = false

    @OptionGroup var result: ResultOption

    func run() async throws {
        if !self.yes {
            try Confirmation.ask(
                "This deletes all data of development in \(self.schema.container).",
                name: self.schema.container
            )
        }
        let difference = try await self.schema.open { try $0.change(.resetDevelopment) }
        try self.result.write(self.schema.result(difference)) {
            Terminal.write("Deleted development's data of \(self.schema.container).\n" + difference.report)
        }
    }
}
