import Administration
import ArgumentParser
import RecordServer

struct UserAdd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add a user and print the access token, once.",
        discussion: """
            Only a hash of the token is stored, so keep the printed token. Works while the server runs.

              export TIDEMARK_TOKEN=$(
                  tidemark user add alice --container iCloud.org.example.app)
            """
    )

    @OptionGroup var user: UserArguments
    @OptionGroup var result: ResultOption

    func run() async throws {
        let (recordName, token) = try await self.user.open { try $0.add() }
        var object = UserResult(self.user)
        object.userRecordName = recordName
        object.token = token.text
        try self.result.write(object) {
            Terminal.write(token.text + "\n")
            Terminal.writeError("Added \(self.user.name). The token above is not shown again.\n")
        }
    }
}
