import ArgumentParser
import Foundation
import TestSupport
import Testing

@testable import tidemark

/// Commands that change something, as scripts use them: one JSON object, and an exit code.
@Suite(.timeLimit(.minutes(10)))
struct CommandJSONTests {
    private static let container = "iCloud.org.example.json"

    /// A call, and the members of its object.
    private struct Call {
        let arguments: [String]
        let members: Set<String>

        init(_ line: String, _ members: Set<String>) {
            self.arguments = line.split(separator: " ").map(String.init)
            self.members = members
        }
    }

    private static func calls(schema: String, backup: String) -> [Call] {
        let changes: Set = ["changes", "container"]
        let roles: Set = ["container", "environment", "name", "roles"]
        let user: Set = ["container", "name"]
        let deletion: Set = [
            "assets", "backups", "bytes", "joinedShares", "name", "records", "shares", "users",
        ]
        let here = "--container \(self.container)"
        return [
            Call("container create \(self.container)", ["container"]),
            Call("user add alice \(here)", user.union(["token", "userRecordName"])),
            Call("user rotate alice \(here)", user.union(["overlapSeconds", "token"])),
            Call("user restrict alice \(here)", user.union(["restricted"])),
            Call("user restrict alice --lift \(here)", user.union(["restricted"])),
            Call("user revoke alice \(here)", user),
            Call("user renew alice \(here)", user.union(["token"])),
            Call("user contacts alice \(here) --email a@example.org", user.union(["contacts"])),
            Call("schema validate \(here) \(schema)", changes),
            Call("schema import \(here) \(schema)", changes),
            Call("schema diff \(here)", changes),
            Call("schema deploy \(here) --yes", changes),
            Call("user role add alice editor \(here)", roles),
            Call("user role list alice \(here)", roles),
            Call("user role remove alice editor \(here)", roles),
            Call("schema reset \(here) --yes", changes),
            Call("key add shop \(here)", ["container", "keyID", "privateKey", "readOnly", "service"]),
            Call("key revoke shop \(here)", ["container", "revoked", "service"]),
            Call(
                "explain \(here) --database public --type Note TRUEPREDICATE",
                ["comparisons", "entriesRead", "hasMore", "plan", "records", "recordsRead"]
            ),
            Call("backup --to \(backup)", ["assets", "backup", "bytes", "damaged", "data"]),
            Call("user delete alice \(here) --yes", deletion),
            Call("container delete \(self.container) --yes", deletion),
        ]
    }

    @Test
    func `commands print one object with the members that they promise`() async throws {
        let server = try ServerProcess()
        let schema = server.folder.path + "/app.ckdb"
        try """
        DEFINE SCHEMA
            CREATE ROLE editor;
            RECORD TYPE Note (
                "___recordID" REFERENCE QUERYABLE, title STRING,
                GRANT WRITE TO editor, GRANT READ TO "_world"
            );
        """.write(toFile: schema, atomically: true, encoding: .utf8)
        for call in Self.calls(schema: schema, backup: server.folder.path + "/backup") {
            let text = try await server.administer(call.arguments + ["--json"])
            let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
            let what = Comment(rawValue: "\(call.arguments.joined(separator: " ")): \(text)")
            #expect(Set(try #require(object, what).keys) == call.members, what)
        }
    }

    @Test
    func `a schema's changes name the type that they are in`() async throws {
        let server = try ServerProcess()
        _ = try await server.administer(["container", "create", Self.container])
        let schema = server.folder.path + "/app.ckdb"
        try "DEFINE SCHEMA RECORD TYPE Note (title STRING);"
            .write(toFile: schema, atomically: true, encoding: .utf8)
        let text = try await server.administer(
            ["schema", "import", schema, "--container", Self.container, "--json"]
        )
        struct Output: Decodable {
            struct Change: Decodable, Equatable {
                let change: String
                let text: String
                var within: String?
            }
            let changes: [Change]
        }
        let changes = try JSONDecoder().decode(Output.self, from: Data(text.utf8)).changes
        #expect(changes.contains(.init(change: "added", text: "RECORD TYPE Note")))
        #expect(changes.contains(.init(change: "added", text: "title STRING", within: "RECORD TYPE Note")))
    }

    @Test
    func `a backup into a pipe has no room for a report`() async throws {
        let outcome = try await ChildProcess.tidemark("backup", "--to", "-", "--json")
        #expect(outcome.exitCode == 64 && outcome.output == "", "\(outcome.errors)")
        #expect(outcome.errors.contains("--json needs a folder"))
    }

    @Test
    func `the first name of --as still works`() {
        let spelled = CommandNames.spelled(["zone", "export", "--user", "alice", "--zone", "--user=x"])
        #expect(spelled == ["zone", "export", "--as", "alice", "--zone", "--as=x"])
        #expect(CommandNames.spelled(["key", "add", "--user"]) == ["key", "add", "--user"])
    }

    /// The table for operators, and the help of the program.
    @Test
    func `each exit code is in the guide, and no other`() throws {
        let guide = try String(
            contentsOf: Readme.repository.appendingPathComponent("Sources/tidemark/README.md"),
            encoding: .utf8
        )
        let section = try #require(
            guide.components(separatedBy: "\n## ").first { $0.hasPrefix("Exit codes\n") }
        )
        let documented = Set(section.matches(of: /\n\| (\d+) \|/).compactMap { Int32($0.1) })
        let failures = Set(CommandFailure.Code.allCases.map(\.rawValue))
        // 3 is what `status` alone says, of a folder without a server.
        #expect(documented == failures.union([0, 3]))
        let help = Tidemark.helpMessage(columns: 400)
        for code in failures { #expect(help.contains(", \(code) "), "\(code)") }
    }
}
