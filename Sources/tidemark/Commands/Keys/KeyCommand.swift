import Administration
import ArgumentParser

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

    @Option(help: .container, completion: Completions.containers)
    var container = ""

    @OptionGroup var data: DataOption

    /// Opens the store for something about the service.
    func open<Value>(_ body: (ServiceAccount) throws -> Value) async throws -> Value {
        try await AdministeredStore.open(self.data.folder) { store in
            try body(ServiceAccount(self.name, of: self.container, in: store))
        }
    }
}
