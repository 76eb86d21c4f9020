import ArgumentParser

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
