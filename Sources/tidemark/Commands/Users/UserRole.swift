import Administration
import ArgumentParser

/// The command `tidemark user role`.
struct UserRole: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "role",
        abstract: "Give custom roles to a user, remove them, and list them.",
        discussion: """
            The schema defines roles (CREATE ROLE), which apply to the public \
            database. A user has them in one environment, from the next request on.

              tidemark user role add alice editor --container iCloud.org.example.app
            """,
        subcommands: [UserRoleAdd.self, UserRoleRemove.self, UserRoleList.self]
    )
}

struct UserRoleAdd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Give a user a role.",
        usage:
            "tidemark user role add <name> <role> [--container <id>] [--environment <environment>] [--data <dir>] [--json]",
        discussion: """
              tidemark user role add alice editor --container iCloud.org.example.app \\
                  --environment production
            """
    )

    @OptionGroup var user: UserArguments
    @OptionGroup var role: RoleArguments
    @OptionGroup var result: ResultOption

    func run() async throws {
        let roles = try await self.role.set(of: self.user, isGiven: true)
        try self.result.write(roles) {
            Terminal.write(
                "\(self.user.name) has the role \(self.role.role) in \(self.role.environment.rawValue).\n"
            )
        }
    }
}

struct UserRoleRemove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove a role from a user.",
        usage:
            "tidemark user role remove <name> <role> [--container <id>] [--environment <environment>] [--data <dir>] [--json]",
        discussion: "  tidemark user role remove alice editor --container iCloud.org.example.app"
    )

    @OptionGroup var user: UserArguments
    @OptionGroup var role: RoleArguments
    @OptionGroup var result: ResultOption

    func run() async throws {
        let roles = try await self.role.set(of: self.user, isGiven: false)
        let (name, role) = (self.user.name, self.role.role)
        try self.result.write(roles) {
            Terminal.write("\(name) does not have the role \(role) in \(self.role.environment.rawValue).\n")
        }
    }
}

struct UserRoleList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the roles of a user, one per line.",
        discussion: "  tidemark user role list alice --container iCloud.org.example.app"
    )

    @OptionGroup var user: UserArguments

    @Option(help: "The environment of the roles.")
    var environment = EnvironmentName.development

    @OptionGroup var result: ResultOption

    func run() async throws {
        let roles = try await self.user.open { try $0.roles(in: self.environment.environment) }
        let object = RoleResult(
            container: self.user.container,
            name: self.user.name,
            environment: self.environment.rawValue,
            roles: roles
        )
        try self.result.write(object) { Terminal.write(roles.map { $0 + "\n" }.joined()) }
    }
}

/// `ROLE --environment NAME`, which the commands about one role take.
struct RoleArguments: ParsableArguments {
    @Argument(help: "A role of the schema.")
    var role: String

    @Option(help: "The environment of the role.")
    var environment = EnvironmentName.development

    /// Gives or removes the role, and returns the user's roles afterwards.
    func set(of user: UserArguments, isGiven: Bool) async throws -> RoleResult {
        let roles = try await user.open { account in
            try account.setRole(self.role, isGiven: isGiven, in: self.environment.environment)
            return try account.roles(in: self.environment.environment)
        }
        return RoleResult(
            container: user.container,
            name: user.name,
            environment: self.environment.rawValue,
            roles: roles
        )
    }
}
