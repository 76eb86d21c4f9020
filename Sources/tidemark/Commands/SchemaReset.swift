import ArgumentParser
import Foundation
import RecordStore

struct SchemaReset: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset",
        abstract: "Give development the schema of production, and drop all of development's data.",
        discussion: """
            Every zone and record of development goes, in all databases of the \
            container; users and their tokens stay. Production is not touched.

              tidemark schema reset --container iCloud.org.example.app --yes
            """
    )

    @OptionGroup var schema: SchemaArguments

    @Flag(help: "Do not ask.")
    var yes = false

    func run() async throws {
        if !self.yes { try self.confirm() }
        let difference = try await self.schema.change(.resetDevelopment)
        Terminal.write("Dropped development's data of \(self.schema.container).\n" + difference.report)
    }

    private func confirm() throws(CommandFailure) {
        guard isatty(STDIN_FILENO) == 1 else {
            throw CommandFailure(.usage, "nobody is there to be asked. To drop development's data: --yes")
        }
        Terminal.writeError(
            "This drops all data of development in \(self.schema.container). Type its name to go on: "
        )
        guard readLine() == self.schema.container else {
            throw CommandFailure(.usage, "that is not its name, so nothing was changed.")
        }
    }
}
