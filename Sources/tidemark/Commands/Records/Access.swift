import Administration
import ArgumentParser
import RecordModel
import RecordStore
import StorageContract

/// The command `tidemark access`.
struct Access: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "access",
        abstract: "Show who may do what with a record, and why.",
        discussion: """
            For a record in a private database, lists its owner and the participants of its share, also those \
            who have not joined. For one in the public database, lists the roles in the grants of its type.

              tidemark access task-1 --container iCloud.org.example.app \\
                  --as alice --zone Notes
              tidemark access news-7 --container iCloud.org.example.app \\
                  --environment production
            """
    )

    @OptionGroup var options: OneRecordOptions

    @Flag(
        help:
            "Print a JSON object with recordType and access, an array of objects with may, name, who and why."
    )
    var json = false

    func run() async throws {
        let (found, names) = try await self.options.open { store, id, requester in
            await withCheckedContinuation { continuation in
                store.accessReport(on: id, in: requester) { continuation.resume(returning: $0) }
            }
        }
        guard let report = found else { throw self.options.missing }
        if self.json {
            Terminal.write(try JSONText.of(Output(report, names)))
        } else {
            Terminal.write(
                Terminal.table(
                    header: ["WHO", "MAY", "WHY"],
                    rows: report.lines.map {
                        [names.text(of: $0.who), $0.may.words.joined(separator: " "), $0.why]
                    }
                )
            )
        }
    }

    private struct Output: Encodable {
        struct Line: Encodable {
            let who: String
            /// Absent for a role, and for a user who is deleted.
            let name: String?
            let may: [String]
            let why: String
        }

        let recordType: String
        let access: [Line]

        init(_ report: AccessReport, _ names: AccountNames) {
            self.recordType = report.recordType
            self.access = report.lines.map {
                Line(who: $0.who, name: names.name(of: $0.who), may: $0.may.words, why: $0.why)
            }
        }
    }
}

extension Permissions {
    fileprivate var words: [String] {
        let all: [(Permissions, String)] = [(.read, "read"), (.create, "create"), (.write, "write")]
        return all.filter { self.contains($0.0) }.map(\.1)
    }
}
