import ArgumentParser
import RecordModel
import RecordStore

struct UserContacts: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "contacts",
        abstract: "Set the e-mail addresses and phone numbers by which others find a user.",
        discussion: """
            Who wants to share something with a user names one of them. They take the place of those that the
            user had: without any he is found by his user record name alone. Nobody checks that they are his:
            that is the operator's to do. `tidemark user list` shows them.

              tidemark user contacts alice --container iCloud.org.example.app \\
                --email alice@example.org --phone +4930123456
            """
    )

    @OptionGroup var user: UserArguments

    @Option(name: .customLong("email"), help: ArgumentHelp("Repeatable.", valueName: "address"))
    var addresses: [String] = []

    @Option(
        name: .customLong("phone"),
        help: ArgumentHelp("With the country's code. Repeatable.", valueName: "number")
    )
    var numbers: [String] = []

    func validate() throws {
        for address in self.addresses where !address.contains("@") || address.utf8.count > Bounds.nameBytesMax
        {
            throw ValidationError("'\(address)' is no e-mail address.")
        }
        for number in self.numbers where !number.contains(where: \.isNumber) || number.utf8.count > 64 {
            throw ValidationError("'\(number)' is no phone number.")
        }
    }

    func run() async throws {
        let contacts =
            self.addresses.map { IdentityLookup.emailAddress($0) }
            + self.numbers.map { IdentityLookup.phoneNumber($0) }
        try await self.user.change { directory in
            try directory.setContacts(contacts, ofUser: self.user.name, inContainer: self.user.container)
        }
        Terminal.writeError("\(self.user.name) is found by \(contacts.count) addresses and numbers.\n")
    }
}
