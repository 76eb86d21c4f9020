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

            The last command prints an access token. A client needs it as
            TIDEMARK_TOKEN, and what `serve` printed as TIDEMARK_URL
            (tidemark://HOST:PORT) and TIDEMARK_CA.

            Exit codes: 0 done, 64 wrong usage or settings, 65 wrong data,
            69 server or store unavailable, 73 a file cannot be created,
            78 unusable certificates.
            """,
        version: version,
        subcommands: [
            Serve.self, ContainerCommand.self, UserCommand.self, KeyCommand.self, SchemaCommand.self,
            AssetsCommand.self, Backup.self, Restore.self, Usage.self, Explain.self, Access.self,
            SettingsCommand.self,
        ]
    )

    static func main() async {
        // Everything in a data folder is its owner's: keys, records, the database's own files.
        umask(0o077)
        do {
            var command = try self.parseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch let failure as CommandFailure {
            Terminal.writeError("tidemark: \(failure.message)\n")
            Foundation.exit(failure.code.rawValue)
        } catch {
            self.exit(withError: error)
        }
    }
}
