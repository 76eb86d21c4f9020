import Administration
import ArgumentParser

struct UserRevoke: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Revoke every token of a user. The records stay.",
        discussion: """
            The next sign-in is refused, and all open connections of the user end \
            within a second. `user renew` admits the user again. For a service, \
            use `tidemark key revoke`.

              tidemark user revoke alice --container iCloud.org.example.app
            """
    )

    @OptionGroup var user: UserArguments
    @OptionGroup var result: ResultOption

    func run() async throws {
        try await self.user.open { try $0.revoke() }
        try self.result.write(UserResult(self.user)) {
            Terminal.write("Revoked the tokens of \(self.user.name).\n")
        }
    }
}
