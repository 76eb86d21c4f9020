import Administration
import ArgumentParser
import Foundation
import RecordStore

struct UserList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the users of a container by name.",
        discussion: "  tidemark user list --container iCloud.org.example.app --json"
    )

    @Option(help: .container, completion: Completions.containers)
    var container = ""

    @OptionGroup var data: DataOption

    @Flag(
        help:
            "Print a JSON array of objects with contacts, created, name, restricted, revoked, service and userRecordName."
    )
    var json = false

    func run() async throws {
        let users = try await AdministeredStore.open(self.data.folder) { store in
            try AdministeredContainer(self.container, in: store).users()
        }
        let rows = users.map(Row.init)
        if self.json {
            Terminal.write(try JSONText.of(rows))
        } else {
            Terminal.write(
                Terminal.table(
                    header: ["NAME", "STATE", "CREATED", "USER RECORD NAME", "CONTACTS"],
                    rows: rows.map {
                        [$0.name, $0.state, $0.created, $0.userRecordName]
                            + [$0.contacts.joined(separator: ", ")]
                    }
                )
            )
        }
    }

    private struct Row: Encodable {
        let name: String
        let userRecordName: String
        /// ISO 8601, in UTC.
        let created: String
        let revoked: Bool
        let restricted: Bool
        let service: Bool
        /// E-mail addresses and phone numbers.
        let contacts: [String]

        var state: String {
            if self.service { return "service" }
            switch (self.revoked, self.restricted) {
            case (false, false): return "active"
            case (false, true): return "restricted"
            case (true, false): return "revoked"
            case (true, true): return "revoked, restricted"
            }
        }

        init(_ user: DirectoryUser) {
            self.name = user.name
            self.userRecordName = user.userRecordName
            let seconds = Double(user.createdMilliseconds) / 1_000
            self.created = Date(timeIntervalSince1970: seconds).formatted(.iso8601)
            self.revoked = user.isRevoked
            self.restricted = user.isRestricted
            self.service = user.isService
            self.contacts = user.contacts
        }
    }
}
