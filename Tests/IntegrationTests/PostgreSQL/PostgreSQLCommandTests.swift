import ArgumentParser
import Foundation
import PostgreSQLCluster
import TestSupport
import Testing

@testable import tidemark

/// Every command of `tidemark` on a folder whose store is in PostgreSQL, beside its server.
@Suite(.timeLimit(.minutes(10)))
struct PostgreSQLCommandTests {
    private static let container = "iCloud.org.example.app"
    private static let place = ["--container", Self.container]
    private static let alice = Self.place + ["--as", "alice"]

    /// The outcome of a command: it works, or refuses with words that say what to do instead.
    private enum Outcome {
        case works
        case refuses(Int32, String)
        /// Other tests run it, as it stays.
        case stays
    }

    private struct Call {
        let path: String
        let arguments: [String]
        let outcome: Outcome

        init(_ path: String, _ arguments: [String], _ outcome: Outcome = .works) {
            self.path = path
            self.arguments = arguments
            self.outcome = outcome
        }
    }

    /// One call of each command, in an order in which each finds what it needs.
    private static func calls(_ folder: String) -> [Call] {
        let other = "iCloud.org.example.other"
        return [
            Call("serve", [], .stays), Call("console", [], .stays), Call("status", []),
            Call("container create", [Self.container]), Call("container create", [other]),
            Call("container list", ["--json"]), Call("container history", [Self.container, "--days", "7"]),
            Call("user add", ["alice"] + Self.place), Call("user add", ["bob"] + Self.place),
            Call("user list", Self.place + ["--json"]), Call("user rotate", ["bob"] + Self.place),
            Call("user contacts", ["bob", "--email", "bob@example.org"] + Self.place),
            Call("schema import", [folder + "/schema.ckdb"] + Self.place),
            Call("schema validate", [folder + "/schema.ckdb"] + Self.place),
            Call("schema diff", [folder + "/schema.ckdb"] + Self.place),
            Call("schema export", Self.place), Call("schema deploy", ["--yes"] + Self.place),
            Call("user role add", ["bob", "Editor"] + Self.place),
            Call("user role list", ["bob"] + Self.place),
            Call("user role remove", ["bob", "Editor"] + Self.place),
            Call("key add", ["robot"] + Self.place), Call("key list", Self.place),
            Call("key revoke", ["robot"] + Self.place),
            Call("records save", ["--file", folder + "/note.json"] + Self.alice),
            Call("records get", ["n1"] + Self.alice),
            Call("records query", ["--type", "Note", "number > 1"] + Self.alice),
            Call("records export", ["--output", folder + "/notes.jsonl"] + Self.alice),
            Call("records import", [folder + "/notes.jsonl"] + Self.alice),
            Call("records changes", Self.alice), Call("records damaged", Self.alice),
            Call("explain", ["--type", "Note", "number > 1", "--user", "alice"] + Self.place),
            Call("access", ["n1", "--user", "alice"] + Self.place),
            Call("explain-record", ["n1", "--user", "alice"] + Self.place),
            Call("usage", Self.place + ["--json"]), Call("zone log", Self.alice),
            Call("zone diff", ["--to", "1"] + Self.alice),
            Call("zone undo", ["--to", "1", "--dry-run"] + Self.alice),
            Call(
                "zone export",
                ["--user", "alice", "--zone", "_defaultZone", "--output", folder + "/zone"] + Self.place
            ),
            Call("zone import", [folder + "/zone", "--user", "bob", "--to", "copy"] + Self.place),
            Call("records delete", ["n1", "--yes"] + Self.alice), Call("assets verify", ["--json"]),
            Call("verify", ["--json"]), Call("repair", [], .refuses(64, "is in PostgreSQL")),
            Call("backup", ["--to", folder + "/backup"], .refuses(64, "pg_basebackup")),
            Call("backup", ["--to", folder + "/follow", "--follow"], .refuses(64, "pg_basebackup")),
            Call("backup", ["--to", "-"], .refuses(64, "pg_basebackup")),
            Call("restore", ["--from", folder + "/none"], .refuses(65, "not a backup")),
            Call(
                "migrate",
                ["--from", folder + "/none", "--to", "postgresql:///none"],
                .refuses(66, "no tidemark.sqlite")
            ),
            Call("schema reset", ["--yes"] + Self.place), Call("user restrict", ["bob"] + Self.place),
            Call("user revoke", ["bob"] + Self.place),
            Call("user renew", ["bob"] + Self.place), Call("user delete", ["bob", "--yes"] + Self.place),
            Call("container delete", [other, "--yes"]), Call("settings", []),
        ]
    }

    /// The paths of all commands without subcommands.
    private static func leaves(
        _ type: any ParsableCommand.Type = Tidemark.self,
        _ path: [String] = []
    ) -> [String] {
        let below = type.configuration.subcommands
        guard !below.isEmpty else { return [path.joined(separator: " ")] }
        return below.flatMap { Self.leaves($0, path + [$0._commandName]) }
    }

    @Test
    func `every command works, or says what to do instead`() async throws {
        let directory = try TemporaryDirectory()
        let folder = directory.path
        let data = folder + "/data"
        let cluster = try PostgreSQLCluster.running()
        let url = cluster.url(database: try cluster.emptyDatabase())
        try """
        DEFINE SCHEMA
            CREATE ROLE Editor;
            RECORD TYPE Note (
                "___createTime" TIMESTAMP,
                "___recordID"   REFERENCE QUERYABLE,
                number          INT64 QUERYABLE SORTABLE,
                text            STRING,
                GRANT WRITE TO "_creator", GRANT CREATE TO "_icloud", GRANT READ TO "_world"
            );
        """.write(toFile: folder + "/schema.ckdb", atomically: true, encoding: .utf8)
        try #"{"recordName":"n1","recordType":"Note","fields":{"number":{"value":5,"type":"INT64"}}}"#
            .write(toFile: folder + "/note.json", atomically: true, encoding: .utf8)
        let server = try ChildProcess(
            ChildProcess.tidemark,
            [
                "serve", "--listen", "127.0.0.1:0", "--data", data, "--engine", "postgres", "--database-url",
                url, "--database-sync", "off",
            ]
        )
        let isListening = await server.find { $0.contains(" listens on ") ? true : nil }
        try #require(isListening == true, "\(server.errorsSoFar)")
        let calls = Self.calls(folder)
        #expect(Set(calls.map(\.path)) == Set(Self.leaves()))
        for call in calls {
            let isFree = ["settings", "migrate"].contains(call.path)
            let arguments =
                call.path.split(separator: " ").map(String.init) + call.arguments
                + (isFree ? [] : ["--data", data])
            switch call.outcome {
            case .stays: continue
            case .works:
                let outcome = try await ChildProcess.run(ChildProcess.tidemark, arguments)
                #expect(outcome.exitCode == 0, "\(call.path): \(outcome.errors)")
            case .refuses(let code, let words):
                let outcome = try await ChildProcess.run(ChildProcess.tidemark, arguments)
                #expect(
                    outcome.exitCode == code && outcome.errors.contains(words),
                    "\(call.path): \(outcome.exitCode) \(outcome.errors)"
                )
            }
        }
        server.signal(SIGTERM)
        #expect(await server.outcome().exitCode == 0)
    }

    @Test
    func `a dump is restored into another database, and served from the same folder`() async throws {
        let directory = try TemporaryDirectory()
        let data = directory.path + "/data"
        let cluster = try PostgreSQLCluster.running()
        let database = try cluster.emptyDatabase()
        let note = #"{"recordName":"n1","recordType":"Note","fields":{"number":{"value":5,"type":"INT64"}}}"#
        try note.write(toFile: directory.path + "/note.json", atomically: true, encoding: .utf8)
        func run(_ arguments: [String]) async throws -> ChildProcess.Outcome {
            try await ChildProcess.run(ChildProcess.tidemark, arguments + ["--data", data])
        }
        func serve(_ database: String) async throws -> ChildProcess {
            let url = cluster.url(database: database)
            let server = try ChildProcess(
                ChildProcess.tidemark,
                [
                    "serve", "--listen", "127.0.0.1:0", "--data", data, "--engine", "postgres",
                    "--database-url", url, "--database-sync", "off",
                ]
            )
            let isListening = await server.find { $0.contains(" listens on ") ? true : nil }
            try #require(isListening == true, "\(server.errorsSoFar)")
            return server
        }
        let first = try await serve(database)
        _ = try await run(["container", "create", Self.container])
        _ = try await run(["user", "add", "alice"] + Self.place)
        let saved = try await run(["records", "save", "--file", directory.path + "/note.json"] + Self.alice)
        #expect(saved.exitCode == 0, "\(saved.errors)")
        // As the guide says, beside the server.
        let dump = directory.path + "/notes.dump"
        for command in [
            ["pg_dump", "--format", "custom", "--file", dump, database],
            ["createdb", "--encoding", "UTF8", "--template", "template0", database + "_restored"],
            ["pg_restore", "--dbname", database + "_restored", dump],
        ] {
            let outcome = try await ChildProcess.run(
                URL(fileURLWithPath: "/usr/bin/" + command[0]),
                Array(command.dropFirst()),
                environment: ["PGHOST": cluster.folder, "PGUSER": "tidemark"]
            )
            #expect(outcome.exitCode == 0, "\(command[0]): \(outcome.errors)")
        }
        first.signal(SIGTERM)
        #expect(await first.outcome().exitCode == 0)
        let second = try await serve(database + "_restored")
        let found = try await run(["records", "get", "n1"] + Self.alice)
        #expect(found.exitCode == 0 && found.output.contains("5"), "\(found.errors)")
        second.signal(SIGTERM)
        #expect(await second.outcome().exitCode == 0)
    }
}
