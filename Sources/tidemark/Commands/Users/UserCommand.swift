import ArgumentParser

/// The command `tidemark user`.
struct UserCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user",
        abstract: "Add, list, revoke, restrict and delete users, and give them roles and addresses.",
        subcommands: [
            UserAdd.self, UserList.self, UserRotate.self, UserRevoke.self, UserRenew.self, UserRole.self,
            UserContacts.self, UserRestrict.self, UserDelete.self,
        ]
    )
}
