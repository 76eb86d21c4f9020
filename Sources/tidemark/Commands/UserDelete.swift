import ArgumentParser
import RecordStore

struct UserDelete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete a user or a service for good, with all private data.",
        discussion: """
            The private databases of both environments go, with their assets and \
            shares, and tokens, keys, roles, contacts and memberships in shares of \
            others. Records that the user saved in the public databases stay, \
            without the user's own record.

            Works while the server runs: connections end within a second, files \
            of assets go with its next sweep, within a minute. If the command is \
            broken off, run it again. Backups keep what they have.

              tidemark user delete alice --container iCloud.org.example.app
            """
    )

    @OptionGroup var user: UserArguments
    @OptionGroup var deletion: DeletionArguments

    func run() async throws {
        let extent = try await self.deletion.delete(
            .user(name: self.user.name, container: self.user.container),
            named: self.user.name,
            in: self.user.data.folder
        ) { error in
            DirectoryAdvice.failure(error, container: self.user.container, user: self.user.name)
        }
        Terminal.write("Deleted \(self.user.name): \(extent.text).\n")
    }
}
