import ArgumentParser
import RecordServer
import RecordStore

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
        let token = AccessToken()
        try await self.user.change { directory in
            try directory.renewToken(
                ofUser: self.user.name,
                inContainer: self.user.container,
                tokenHash: token.hash
            )
        }
        var object = UserResult(self.user)
        object.token = token.text
        try self.result.write(object) {
            Terminal.write(token.text + "\n")
            Terminal.writeError("Renewed. The token above is not shown again; those before it are revoked.\n")
        }
    }
}
