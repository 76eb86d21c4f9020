import Administration
import ArgumentParser
import RecordServer

struct UserRotate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Give a user a new access token and print it, once; the old one stays valid for a while.",
        discussion: """
            The old token and its connections stay valid for an hour, or for the \
            time of --overlap; then both end within a second. With --overlap 0 \
            the old token ends now, as with `user renew`. A still older token \
            ends now in any case.

              tidemark user rotate alice --container iCloud.org.example.app
              tidemark user rotate alice --container iCloud.org.example.app --overlap 86400
            """
    )

    /// Thirty days.
    private static let overlapSecondsMax = 2_592_000

    @OptionGroup var user: UserArguments
    @OptionGroup var result: ResultOption

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("How long the old token stays valid, at most 30 days.", valueName: "seconds")
    )
    var overlap = 3_600

    func validate() throws {
        guard (0...Self.overlapSecondsMax).contains(self.overlap) else {
            throw ValidationError("--overlap takes seconds from 0 to \(Self.overlapSecondsMax).")
        }
    }

    func run() async throws {
        let token = try await self.user.open { try $0.rotate(overlapSeconds: self.overlap) }
        var object = UserResult(self.user)
        object.token = token.text
        object.overlapSeconds = self.overlap
        try self.result.write(object) {
            Terminal.write(token.text + "\n")
            let end = self.overlap == 0 ? "ended" : "ends in \(self.overlap) seconds"
            Terminal.writeError("Rotated. The token above is not shown again; the one before it \(end).\n")
        }
    }
}
