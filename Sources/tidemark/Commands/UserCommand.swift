import ArgumentParser
import RecordStore

/// The command `tidemark user`.
struct UserCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user",
        abstract: "Add, list, revoke and delete the users of a container, and give them roles and addresses.",
        subcommands: [
            UserAdd.self, UserList.self, UserRotate.self, UserRevoke.self, UserRenew.self, UserRole.self,
            UserContacts.self, UserDelete.self,
        ]
    )
}

/// `NAME --container ID --data DIR`, which the commands about one user take.
struct UserArguments: ParsableArguments {
    @Argument(
        help: "The user's name, for administration only: clients see a random user record name.",
        completion: Completions.users
    )
    var name: String

    @Option(help: ArgumentHelp("The user's container.", valueName: "id"), completion: Completions.containers)
    var container: String

    @OptionGroup var data: DataOption

    /// Runs a change of this user's entry.
    func change(_ body: (Directory) throws -> Void) async throws {
        try await AdministeredStore.use(self.data.folder, body) { error in
            DirectoryAdvice.failure(error, container: self.container, user: self.name)
        }
    }
}
