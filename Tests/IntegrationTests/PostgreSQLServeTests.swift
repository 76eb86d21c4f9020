import Foundation
import PostgreSQLCluster
import TestSupport
import Testing

/// `tidemark serve --engine postgres`, and the commands beside it.
@Suite(.timeLimit(.minutes(10)))
struct PostgreSQLServeTests {
    private let directory: TemporaryDirectory
    private let database: String
    private let url: String
    private var data: String { self.directory.path + "/data" }
    private static let container = "iCloud.org.example.app"

    init() throws {
        self.directory = try TemporaryDirectory()
        let cluster = try PostgreSQLCluster.running()
        self.database = try cluster.emptyDatabase()
        self.url = cluster.url(database: self.database)
    }

    /// Starts a server; PostgreSQL's of these tests has no standby.
    private func serve(
        _ arguments: [String],
        data: String? = nil,
        sync: String = "off"
    ) throws -> ChildProcess {
        try ChildProcess(
            ChildProcess.tidemark,
            ["serve", "--listen", "127.0.0.1:0", "--data", data ?? self.data, "--database-sync", sync]
                + arguments
        )
    }

    /// Starts a server, and returns when it takes connections.
    private func started(_ arguments: [String], data: String? = nil) async throws -> ChildProcess {
        let server = try self.serve(arguments, data: data)
        let isListening = await server.find { $0.contains(" listens on ") ? true : nil }
        if isListening != true { Issue.record("\(await server.outcome().errors)") }
        return server
    }

    private func run(_ arguments: [String]) async throws -> ChildProcess.Outcome {
        try await ChildProcess.run(ChildProcess.tidemark, arguments + ["--data", self.data])
    }

    private func end(_ server: ChildProcess) async {
        server.signal(SIGTERM)
        #expect(await server.outcome().exitCode == 0)
    }

    @Test
    func `a store in a database is served, found by its folder, and there after a restart`() async throws {
        let first = try await self.started(["--engine", "postgres", "--database-url", self.url])
        let place = ["--container", Self.container]
        #expect(try await self.run(["container", "create", Self.container]).exitCode == 0)
        #expect(try await self.run(["user", "add", "alice"] + place).exitCode == 0)
        let file = self.directory.path + "/note.json"
        try #"{"recordName":"n1","recordType":"Note","fields":{"text":{"value":"Hello","type":"STRING"}}}"#
            .write(toFile: file, atomically: true, encoding: .utf8)
        let saved = try await self.run(["records", "save", "--file", file, "--as", "alice"] + place)
        #expect(saved.exitCode == 0, "\(saved.errors)")
        await self.end(first)
        // The folder says where the store is, to its owner alone.
        let address = self.data + "/postgresql.json"
        let mode = try FileManager.default.attributesOfItem(atPath: address)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(!FileManager.default.fileExists(atPath: self.data + "/tidemark.sqlite"))
        let second = try await self.started([])
        let found = try await self.run(["records", "get", "n1", "--as", "alice"] + place)
        #expect(found.exitCode == 0 && found.output.contains("Hello"), "\(found.errors)")
        let status = try await self.run(["status"])
        #expect(status.exitCode == 0, "\(status.errors)")
        await self.end(second)
    }

    @Test
    func `tables of a version before the first release are refused, with what to do`() async throws {
        let arguments = ["--engine", "postgres", "--database-url", self.url]
        await self.end(try await self.started(arguments))
        try PostgreSQLCluster.running().row(
            "ALTER TABLE tidemark.store DROP COLUMN release",
            in: self.database
        )
        let outcome = await (try self.serve(arguments)).outcome()
        #expect(outcome.exitCode == 69)
        #expect(outcome.errors.contains("the store in PostgreSQL is of a version before 0.1.0"))
        #expect(outcome.errors.contains("tidemark zone export"))
    }

    @Test
    func `two servers serve one database, one of them stands still, and one is killed`() async throws {
        let arguments = ["--engine", "postgres", "--database-url", self.url, "--log-level", "info"]
        let other = self.directory.path + "/other"
        let first = try await self.started(arguments)
        try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: other + "/assets",
            withDestinationPath: self.data + "/assets"
        )
        let second = try await self.started(arguments, data: other)
        let place = ["--container", Self.container]
        #expect(try await self.run(["container", "create", Self.container]).exitCode == 0)
        #expect(try await self.run(["user", "add", "alice"] + place).exitCode == 0)
        // The other folder leads to the same store.
        let users = try await ChildProcess.run(
            ChildProcess.tidemark,
            ["user", "list", "--data", other] + place
        )
        #expect(users.output.contains("alice"), "\(users.errors)")
        while !(first.errorsSoFar + second.errorsSoFar).contains("keeps house") {
            try await Task.sleep(for: .milliseconds(20))
        }
        // One of them keeps house. When it stands still for as long as its lease lasts, the other does.
        #expect(first.errorsSoFar.contains("keeps house") != second.errorsSoFar.contains("keeps house"))
        let (keeper, heir) =
            first.errorsSoFar.contains("keeps house") ? (first, second) : (second, first)
        keeper.signal(SIGSTOP)
        let cluster = try PostgreSQLCluster.running()
        try cluster.row("UPDATE tidemark.store SET until_ms = 0", in: self.database)
        while !heir.errorsSoFar.contains("keeps house") { try await Task.sleep(for: .milliseconds(20)) }
        let lease = "SELECT term::text, node FROM tidemark.store"
        let before = try cluster.row(lease, in: self.database)
        keeper.signal(SIGCONT)
        #expect(try await self.run(["user", "add", "bob"] + place).exitCode == 0)
        // It does not keep house any more, and neither takes the lease nor gives it back when it ends.
        await self.end(keeper)
        #expect(try cluster.row(lease, in: self.database) == before)
        // After a crash the server of the same folder starts at once.
        heir.signal(SIGKILL)
        _ = await heir.outcome()
        await self.end(try await self.started([], data: heir === first ? self.data : other))
    }

    @Test
    func `without a synchronous standby a server is refused, and told of the setting`() async throws {
        let arguments = ["--engine", "postgres", "--database-url", self.url]
        for sync in [["--database-sync", "required"], []] {
            let outcome = try await ChildProcess.run(
                ChildProcess.tidemark,
                ["serve", "--listen", "127.0.0.1:0", "--data", self.data] + arguments + sync
            )
            #expect(outcome.exitCode == 69)
            #expect(outcome.errors.contains("--database-sync off"), "\(outcome.errors)")
        }
    }

    @Test
    func `a folder is not served with the database of another store`() async throws {
        await self.end(try await self.started(["--engine", "postgres", "--database-url", self.url]))
        let cluster = try PostgreSQLCluster.running()
        let other = cluster.url(database: try cluster.emptyDatabase())
        let outcome = try await self.serve(["--database-url", other]).outcome()
        #expect(outcome.exitCode == 65)
        #expect(outcome.errors.contains("belongs to another store"), "\(outcome.errors)")
        let sqlite = try await self.serve(["--engine", "sqlite"]).outcome()
        #expect(sqlite.exitCode == 64 && sqlite.errors.contains("is in PostgreSQL"), "\(sqlite.errors)")
        let backup = try await self.run(["backup", "--to", self.directory.path + "/backup"])
        #expect(backup.exitCode == 64 && backup.errors.contains("pg_dump"), "\(backup.errors)")
    }

    @Test
    func `what is wrong is said before anything is made, with what to do`() async throws {
        let cluster = try PostgreSQLCluster.running()
        let guarded = PostgreSQLCluster.guardedUser.name
        let wrong: [(url: String, code: Int32, words: String)] = [
            ("postgresql:///x?host=/tmp/no-such-folder", 69, "Check that it runs"),
            (cluster.url(database: "no_such_database"), 66, "createdb"),
            (cluster.url(database: "postgres", user: guarded, password: "wrong"), 77, "pgpass"),
            ("postgresql://[::1/", 64, "postgresql://USER@HOST"),
        ]
        for (url, code, words) in wrong {
            let outcome = try await self.serve(["--engine", "postgres", "--database-url", url]).outcome()
            #expect(outcome.exitCode == code && outcome.errors.contains(words), "\(outcome.errors)")
            #expect(!FileManager.default.fileExists(atPath: self.data))
        }
        let nameless = try await self.serve(["--engine", "postgres"]).outcome()
        #expect(nameless.exitCode == 64 && nameless.errors.contains("--database-url"), "\(nameless.errors)")
    }

    @Test
    func `logs and listings show the URL without its password`() async throws {
        let url = "postgresql://me:topsecret@db.example.org/notes?password=hidden"
        let listed = try await ChildProcess.run(
            ChildProcess.tidemark,
            ["settings", "--set", "database_url=\(url)"]
        )
        #expect(listed.output.contains("postgresql://me:***@db.example.org/notes?password=***"))
        #expect(!listed.output.contains("topsecret") && !listed.output.contains("hidden"))
    }
}
