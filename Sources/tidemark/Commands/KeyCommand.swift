import ArgumentParser
import RecordStore

/// The command `tidemark key`.
struct KeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Register, list and revoke the keys of services.",
        discussion: """
            A service signs in with a key of its own. It uses the public database as \
            itself, with roles given by `tidemark user role`. It may also act on behalf of the \
            users that its key was registered for. All commands work while the server runs.
            """,
        subcommands: [KeyAdd.self, KeyList.self, KeyRevoke.self]
    )
}

/// `NAME --container ID --data DIR`, which the commands about one service take.
struct ServiceArguments: ParsableArguments {
    @Argument(help: "The service's name, which no user of the container has.")
    var name: String

    @Option(
        help: ArgumentHelp("The service's container.", valueName: "id"),
        completion: Completions.containers
    )
    var container: String

    @OptionGroup var data: DataOption

    func advice(_ error: DirectoryError) -> CommandFailure {
        switch error {
        case .userExists:
            CommandFailure(
                .data,
                "\(self.name) is a user of \(self.container), and cannot be a service too. Choose another name."
            )
        case .userMissing:
            CommandFailure(
                .data,
                "there is no service \(self.name) in \(self.container). "
                    + "List them: tidemark key list --container \(self.container)"
            )
        default: DirectoryAdvice.failure(error, container: self.container, user: self.name)
        }
    }
}
