import Administration
import ArgumentParser
import RecordModel

struct UserContacts: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "contacts",
        abstract: "Set the e-mail addresses and phone numbers by which others find a user.",
        discussion: """
            Other users name one of these to share something with the user. They replace the earlier ones. \
            Without any, others can only find the user by user record name. The operator has to check that they \
            belong to the user, because nothing else does. `tidemark user list` shows them.

              tidemark user contacts alice --container iCloud.org.example.app \\
                  --email alice@example.org --phone +4930123456
            """
    )

    @OptionGroup var user: UserArguments
    @OptionGroup var result: ResultOption

    @Option(name: .customLong("email"), help: ArgumentHelp("Repeatable.", valueName: "address"))
    var addresses: [String] = []

    @Option(
        name: .customLong("phone"),
        help: ArgumentHelp("With the country code. Repeatable.", valueName: "number")
    )
    var numbers: [String] = []

    func validate() throws {
        for address in self.addresses where !address.contains("@") || address.utf8.count > Bounds.nameBytesMax
        {
            throw ValidationError("'\(address)' is not an e-mail address.")
        }
        for number in self.numbers where !number.contains(where: \.isNumber) || number.utf8.count > 64 {
            throw ValidationError("'\(number)' is not a phone number.")
        }
    }

    func run() async throws {
        let contacts =
            self.addresses.map { IdentityLookup.emailAddress($0) }
            + self.numbers.map { IdentityLookup.phoneNumber($0) }
        try await self.user.open { try $0.setContacts(contacts) }
        var object = UserResult(self.user)
        object.contacts = self.addresses + self.numbers
        let found =
            switch contacts.count {
            case 0: "by the user record name alone"
            case 1: "by one address or number"
            default: "by \(contacts.count) addresses and numbers"
            }
        try self.result.write(object) {
            Terminal.writeError("Others find \(self.user.name) \(found).\n")
        }
    }
}
