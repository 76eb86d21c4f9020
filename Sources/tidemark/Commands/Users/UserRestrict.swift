import Administration
import ArgumentParser

struct UserRestrict: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restrict",
        abstract: "Restrict the processing of a user's data, or lift that. The records stay.",
        discussion: """
            While a user is restricted, every request of theirs fails with \
            managedAccountRestricted, also over open connections and by services on \
            their behalf. Nothing of theirs is read, changed or deleted, and tokens \
            stay valid. Others go on with what the user shares with them. `user list` \
            shows who is restricted.

              tidemark user restrict alice --container iCloud.org.example.app
              tidemark user restrict alice --lift --container iCloud.org.example.app
            """
    )

    @OptionGroup var user: UserArguments
    @OptionGroup var result: ResultOption

    @Flag(help: "Lift the restriction.")
    var lift = false

    func run() async throws {
        try await self.user.open { try $0.restrict(!self.lift) }
        var object = UserResult(self.user)
        object.restricted = !self.lift
        try self.result.write(object) {
            Terminal.write("\(self.lift ? "Lifted the restriction of" : "Restricted") \(self.user.name).\n")
        }
    }
}
