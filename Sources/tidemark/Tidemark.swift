import ArgumentParser
import Foundation
import RecordModel

/// The server and its administration.
@main
struct Tidemark: AsyncParsableCommand {
    static let version = Release.version

    static let configuration = CommandConfiguration(
        commandName: "tidemark",
        abstract: "A self-hosted record store with CloudKit's data model.",
        discussion: """
            First start, in two terminals:

              tidemark serve --data ./tidemark-data
              tidemark container create iCloud.org.example.app
              tidemark user add alice --container iCloud.org.example.app

            The last command prints an access token. A client needs it as \
            TIDEMARK_TOKEN, with the TIDEMARK_URL (tidemark://HOST:PORT) and \
            TIDEMARK_CA that `serve` printed.

            Exit codes: 0 done, 64 wrong usage or settings, 65 wrong or damaged data, \
            66 no store in the folder, 69 server or store unavailable, 73 a file cannot be created, \
            77 no permission, 78 unusable certificates or unsafe permissions.
            """,
        version: version,
        subcommands: [
            Serve.self, Status.self, ContainerCommand.self, UserCommand.self, KeyCommand.self,
            SchemaCommand.self,
            RecordsCommand.self, ZoneCommand.self, AssetsCommand.self, Verify.self, Backup.self, Restore.self,
            Repair.self, Migrate.self,
            Usage.self, Explain.self, Access.self, ExplainRecord.self, ConsoleCommand.self,
            SettingsCommand.self,
        ]
    )

    static func main() async {
        // Keys, records and the database's own files in a data folder are for its owner alone.
        umask(0o077)
        do {
            let spelled = CommandNames.spelled(Array(CommandLine.arguments.dropFirst()))
            let arguments = try await DefaultOptions.added(to: spelled)
            var command = try await self.asyncParseAsRoot(arguments)
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch {
            if let failure = CommandFailure(of: error) {
                Terminal.writeFailure("tidemark: \(failure.message)\n")
                Foundation.exit(failure.code.rawValue)
            }
            let code = self.exitCode(for: error)
            // Not an error, but help or the version.
            if code == .success { self.exit(withError: error) }
            Terminal.writeFailure(self.complaint(of: error))
            Foundation.exit(code.rawValue)
        }
    }

    /// The parser's message, in the form of our own errors.
    private static func complaint(of error: any Error) -> String {
        let message = self.fullMessage(for: error)
        let prefix = "Error: "
        guard message.hasPrefix(prefix) else { return message.isEmpty ? "" : message + "\n" }
        let text = message.dropFirst(prefix.count)
        return "tidemark: \(text.prefix(1).lowercased())\(text.dropFirst())\n"
    }
}
