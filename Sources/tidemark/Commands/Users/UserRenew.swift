import Administration
import ArgumentParser
import RecordServer

struct UserRenew: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "renew",
        abstract: "Give a user a new access token in place of all others, and print it, once.",
        discussion: """
            Connections with the old tokens end within a second. To keep the old \
            token valid for a while, use `tidemark user rotate`.

              tidemark user renew alice --container iCloud.org.example.app
            """
    )

    @OptionGroup var user: UserArguments
    @OptionGroup var result: ResultOption

    func run() async throws {
        let token = try await self.user.open { try $0.renew() }
        var object = UserResult(self.user)
        object.token = token.text
        try self.result.write(object) {
            Terminal.write(token.text + "\n")
            Terminal.writeError("Renewed. The token above is not shown again; those before it are revoked.\n")
        }
    }
}
