import Administration
import ArgumentParser
import Foundation
import RecordStore

struct KeyList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the keys of a container's services.",
        discussion: "  tidemark key list --container iCloud.org.example.app --json"
    )

    @Option(help: .container, completion: Completions.containers)
    var container = ""

    @OptionGroup var data: DataOption

    @Flag(
        help:
            "Print a JSON array of objects with created, keyID, onBehalfOf, readOnly, revoked, service and userRecordName."
    )
    var json = false

    func run() async throws {
        let keys = try await AdministeredStore.open(self.data.folder) { store in
            try AdministeredContainer(self.container, in: store).serviceKeys()
        }
        let rows = keys.map(Row.init)
        if self.json {
            Terminal.write(try JSONText.of(rows))
        } else {
            Terminal.write(
                Terminal.table(
                    header: ["SERVICE", "STATE", "MAY", "CREATED", "KEY ID", "ON BEHALF OF"],
                    rows: rows.map {
                        [
                            $0.service, $0.revoked ? "revoked" : "active",
                            $0.readOnly ? "read" : "read, write", $0.created, $0.keyID,
                            $0.onBehalfOf.joined(separator: ", "),
                        ]
                    }
                )
            )
        }
    }

    private struct Row: Encodable {
        let service: String
        let userRecordName: String
        let keyID: String
        /// ISO 8601, in UTC.
        let created: String
        let revoked: Bool
        let onBehalfOf: [String]
        let readOnly: Bool

        init(_ key: DirectoryServiceKey) {
            self.service = key.serviceName
            self.userRecordName = key.userRecordName
            self.keyID = key.keyID
            let seconds = Double(key.createdMilliseconds) / 1_000
            self.created = Date(timeIntervalSince1970: seconds).formatted(.iso8601)
            self.revoked = key.isRevoked
            self.onBehalfOf = key.onBehalfOf
            self.readOnly = key.isReadOnly
        }
    }
}
