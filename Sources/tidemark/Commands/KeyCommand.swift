import ArgumentParser
import RecordServer
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

    @Option(help: .container, completion: Completions.containers)
    var container = ""

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

    // MARK: Changes that commands and the console make

    /// Registers a key.
    func register(_ pair: ServiceKeyPair, onBehalfOf users: [String], isReadOnly: Bool) async throws {
        let key = NewServiceKey(
            serviceName: self.name,
            userRecordName: RandomNames.userRecordName(),
            keyID: pair.keyID,
            publicKey: pair.publicKey,
            onBehalfOf: users,
            isReadOnly: isReadOnly
        )
        try await AdministeredStore.use(self.data.folder) { directory in
            try directory.addServiceKey(key, toContainer: self.container)
        } explain: { error in
            error == .userMissing ? self.advice(onMissing: users) : self.advice(error)
        }
    }

    private func advice(onMissing users: [String]) -> CommandFailure {
        CommandFailure(
            .data,
            (users.count == 1
                ? "\(users[0]) is not a user of \(self.container). "
                : "\(users.joined(separator: ", ")) are not all users of \(self.container). ")
                + "List them: tidemark user list --container \(self.container)"
        )
    }

    /// Revokes one key, or all, and returns how many.
    func revoke(keyID: String?) async throws -> Int {
        try await AdministeredStore.use(self.data.folder) { directory in
            try directory.revokeServiceKeys(
                ofService: self.name,
                keyID: keyID,
                inContainer: self.container
            )
        } explain: { error in
            self.advice(error)
        }
    }
}
