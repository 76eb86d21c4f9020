import Administration
import ArgumentParser

/// `NAME --container ID --data DIR`, which the commands about one user take.
struct UserArguments: ParsableArguments {
    @Argument(
        help: "The user's name, for administration only: clients see a random user record name.",
        completion: Completions.users
    )
    var name: String

    @Option(help: .container, completion: Completions.containers)
    var container = ""

    @OptionGroup var data: DataOption

    /// Opens the store for something about the user.
    func open<Value>(_ body: (UserAccount) throws -> Value) async throws -> Value {
        try await AdministeredStore.open(self.data.folder) { store in
            try body(UserAccount(self.name, of: self.container, in: store))
        }
    }
}
