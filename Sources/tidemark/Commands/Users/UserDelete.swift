import ArgumentParser
import RecordStore

struct UserDelete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete a user or a service for good, with all private data.",
        discussion: """
            Deletes the private databases of both environments with their assets \
            and shares. Also deletes the user's tokens, keys, roles, contacts and \
            memberships in others' shares. Records that the user saved in the \
            public databases are kept, except their user record.

            Works while the server runs: connections end within a second, and the \
            next sweep deletes files of assets, within a minute. If the command is \
            interrupted, run it again. What is deleted is overwritten, and in no \
            backup that is made later. Earlier backups have it still: the command \
            names them.

              tidemark user delete alice --container iCloud.org.example.app
            """
    )

    @OptionGroup var user: UserArguments
    @OptionGroup var deletion: DeletionArguments
    @OptionGroup var result: ResultOption

    func run() async throws {
        let extent = try await self.deletion.delete(
            .user(name: self.user.name, container: self.user.container),
            named: self.user.name,
            in: self.user.data.folder
        )
        let backups = EarlierBackups(of: self.user.data.folder)
        try self.result.write(DeletionResult(of: self.user.name, extent, backups)) {
            Terminal.write("Deleted \(self.user.name): \(extent.text).\n\(backups.text)")
        }
    }
}
