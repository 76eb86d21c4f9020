import Administration
import ArgumentParser

struct KeyRevoke: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Revoke the keys of a service, or one of them. Its records stay.",
        discussion: """
            Connections with the keys end within a second. A revoked key never \
            becomes valid again; `key add` registers another.

              tidemark key revoke shop --container iCloud.org.example.app
              tidemark key revoke shop --container iCloud.org.example.app --key-id 0f1e…
            """
    )

    @OptionGroup var service: ServiceArguments
    @OptionGroup var result: ResultOption

    @Option(help: ArgumentHelp("One key, as `key list` shows it; otherwise all.", valueName: "id"))
    var keyID: String?

    func run() async throws {
        let count = try await self.service.open { try $0.revoke(keyID: self.keyID) }
        var object = KeyResult(self.service)
        object.revoked = count
        try self.result.write(object) {
            Terminal.write("Revoked \(count) \(count == 1 ? "key" : "keys") of \(self.service.name).\n")
        }
    }
}
