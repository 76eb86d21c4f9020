import CloudKit
import Foundation
import TestSupport
import Testing

/// `tidemark schema` and `tidemark user role`, beside the server that serves the same folder and alone.
@Suite(.timeLimit(.minutes(10)))
struct SchemaCommandTests {
    private static let container = "iCloud.a"
    private static let grants = """
        GRANT WRITE TO "_creator", GRANT CREATE TO "_icloud", GRANT READ TO "_world"
        """

    private let directory: TemporaryDirectory
    private var data: String { self.directory.path + "/data" }

    init() throws {
        self.directory = try TemporaryDirectory()
    }

    private func run(_ arguments: String...) async throws -> ChildProcess.Outcome {
        let place = ["--container", Self.container, "--data", self.data]
        return try await ChildProcess.run(ChildProcess.tidemark, arguments + place)
    }

    /// Runs what must succeed, and returns what it prints.
    private func output(_ arguments: String...) async throws -> String {
        let place = ["--container", Self.container, "--data", self.data]
        let outcome = try await ChildProcess.run(ChildProcess.tidemark, arguments + place)
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        return outcome.output
    }

    private func makeContainer() async throws {
        try await ServerProcess.makeStore(in: self.data)
        let made = try await ChildProcess.tidemark("container", "create", Self.container, "--data", self.data)
        try #require(made.exitCode == 0)
    }

    /// A file with these types.
    private func file(_ types: String) throws -> String {
        let path = self.directory.path + "/\(UUID()).ckdb"
        try "DEFINE SCHEMA\n\(types)".write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    @Test
    func `a schema is imported, compared, deployed and exported without a server`() async throws {
        try await self.makeContainer()
        let note = try self.file("RECORD TYPE Note (title STRING QUERYABLE, \(Self.grants));")
        let added = """
            + RECORD TYPE Note
                + title STRING QUERYABLE
                + GRANT WRITE TO "_creator"
                + GRANT CREATE TO "_icloud"
                + GRANT READ TO "_world"

            """
        #expect(try await self.output("schema", "validate", note) == added)
        #expect(try await self.output("schema", "diff", note) == added)
        #expect(try await self.output("schema", "diff") == "No difference.\n")
        #expect(try await self.output("schema", "import", note) == added)
        #expect(try await self.output("schema", "import", note) == "Nothing changes.\n")
        #expect(try await self.output("schema", "diff") == added)
        #expect(try await self.output("schema", "deploy", "--dry-run") == added)
        #expect(!(try await self.output("schema", "export", "--environment", "production")).contains("Note"))
        #expect(try await self.output("schema", "deploy", "--yes") == added)
        #expect(try await self.output("schema", "deploy", "--yes") == "Nothing changes.\n")

        let exported = self.directory.path + "/exported.ckdb"
        #expect(try await self.output("schema", "export", "--output", exported) == "")
        let text = try String(contentsOfFile: exported, encoding: .utf8)
        #expect(try await self.output("schema", "export", "--environment", "production") == text)
        #expect(
            text.hasPrefix("DEFINE SCHEMA\n\n    RECORD TYPE Note (\n        \"___createTime\" TIMESTAMP,\n")
        )
        #expect(try await self.output("schema", "import", exported) == "Nothing changes.\n")
    }

    @Test
    func `the type of shares is imported, deployed and exported as CloudKit names it`() async throws {
        try await self.makeContainer()
        let share = try self.file(
            """
            RECORD TYPE Note (title STRING, \(Self.grants));
            RECORD TYPE "cloudkit.share" ("cloudkit.title" STRING, "cloudkit.type" STRING, \(Self.grants));
            """
        )
        _ = try await self.output("schema", "import", share)
        _ = try await self.output("schema", "deploy", "--yes")
        let text = try await self.output("schema", "export", "--environment", "production")
        #expect(text.contains("    RECORD TYPE \"cloudkit.share\" (\n"), "\(text)")
        #expect(text.contains("        \"cloudkit.title\" STRING,\n"), "\(text)")
        let exported = self.directory.path + "/exported.ckdb"
        try text.write(toFile: exported, atomically: true, encoding: .utf8)
        #expect(try await self.output("schema", "import", exported) == "Nothing changes.\n")
    }

    @Test
    func `a schema comes from the standard input as well`() async throws {
        try await self.makeContainer()
        let note = try self.file("RECORD TYPE Note (title STRING);")
        for last in ["", " -"] {
            let line = """
                '\(ChildProcess.tidemark.path)' schema validate --container \(Self.container) --data '\(self.data)'\(last) \
                < '\(note)'
                """
            let outcome = try await ChildProcess.run(URL(fileURLWithPath: "/bin/sh"), ["-c", line])
            #expect(outcome.output == "+ RECORD TYPE Note\n    + title STRING\n", "\(outcome.errors)")
        }
    }

    @Test
    func `what is wrong is said with its place, and nothing changes`() async throws {
        try await self.makeContainer()
        func fails(_ code: Int32, _ text: String, _ arguments: String...) async throws {
            let place = ["--container", Self.container, "--data", self.data]
            let outcome = try await ChildProcess.run(ChildProcess.tidemark, arguments + place)
            #expect(outcome.exitCode == code)
            #expect(outcome.output == "")
            #expect(outcome.errors.contains(text), "\(outcome.errors)")
        }
        let typo = try self.file("RECORD TYPE Note (\n  title STRNG);")
        let message = "\(typo): Encountered \"STRNG\" at line 3, column 9. Was expecting: ASSET, BYTES"
        try await fails(65, message, "schema", "import", typo)
        try await fails(65, message, "schema", "validate", typo)
        try await fails(65, "cannot be read", "schema", "import", "/nowhere.ckdb")
        let good = try self.file("RECORD TYPE Note (title STRING);")
        try await fails(64, "schema deploy", "schema", "import", good, "--environment", "production")
        try await fails(73, "--output", "schema", "export", "--output", "/nowhere/a.ckdb")
        try await fails(64, "--yes", "schema", "reset")
        _ = try await self.output("schema", "import", good)
        _ = try await self.output("schema", "deploy", "--yes")
        let bad = try self.file("RECORD TYPE Note (title INT64);")
        let loss = "  the field Note.title would change from STRING to INT64\n"
        for command in ["import", "validate"] { try await fails(65, loss, "schema", command, bad) }
        let large = self.directory.path + "/large.ckdb"
        try Data(repeating: 0x20, count: 2_000_000).write(to: URL(fileURLWithPath: large))
        try await fails(65, "the limit is 1048576", "schema", "import", large)
        let wide = try self.file(
            "RECORD TYPE Wide (\((0...1_000).map { "f\($0) INT64" }.joined(separator: ", ")));"
        )
        try await fails(65, "exceeds the limit of 1000 for a record type", "schema", "import", wide)
        let absent = try await ChildProcess.tidemark(
            "schema",
            "export",
            "--container",
            "iCloud.b",
            "--data",
            self.data
        )
        #expect(absent.exitCode == 65)
        #expect(absent.errors.contains("tidemark container create iCloud.b"))
        #expect(try await self.output("schema", "diff") == "No difference.\n")
    }

    @Test
    func `a type that has more fields than there may be, from before, is exported and not deployed`()
        async throws
    {
        try await self.makeContainer()
        _ = try await self.output("schema", "import", try self.file("RECORD TYPE Note (title STRING);"))
        let script = """
            import os, sqlite3, sys
            connection = sqlite3.connect(sys.argv[1], isolation_level=None)
            connection.execute(\"\"\"
                WITH RECURSIVE number(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n < 999)
                INSERT INTO field (record_type, name, type, is_encrypted, declared, indexes, index_number)
                SELECT record_type, 'f' || n, type, 0, 0, 0, NULL FROM number JOIN field WHERE name = 'title'\"\"\")
            # Leaves what it wrote in the log: the pages of the file have checksums.
            os._exit(0)
            """
        let python = URL(fileURLWithPath: "/usr/bin/python3")
        let changed = try await ChildProcess.run(python, ["-c", script, self.data + "/tidemark.sqlite"])
        #expect(changed.exitCode == 0, "\(changed.errors)")
        #expect(try await self.output("schema", "export").contains("f999 "))
        let place = ["--container", Self.container, "--data", self.data]
        let deploy = try await ChildProcess.run(ChildProcess.tidemark, ["schema", "deploy", "--yes"] + place)
        #expect(deploy.exitCode == 65)
        #expect(
            deploy.errors.contains("1001 fields of the record type Note; the limit is 1000"),
            "\(deploy.errors)"
        )
    }

    @Test(arguments: ["export", "import", "validate", "diff", "deploy", "reset"])
    func `every command has an example`(command: String) async throws {
        let help = try await ChildProcess.tidemark("schema", command, "--help")
        #expect(help.exitCode == 0)
        #expect(help.output.contains("  tidemark schema \(command) --container "))
    }

    @Test
    func `a server that runs minds schemas and roles from the next request on`() async throws {
        let server = try await ServerUnderTest.start(data: self.data)
        let token = try await ServerUnderTest.addUser(container: Self.container, data: self.data)
        func database(_ environment: CKServerConnection.Environment) -> CKDatabase {
            let connection = CKServerConnection(
                url: "tidemark://\(server.address)",
                token: token,
                certificateAuthority: .file(server.authorityPath),
                environment: environment
            )
            return CKContainer(identifier: Self.container, connection: connection).publicCloudDatabase
        }
        let (development, production) = (database(.development), database(.production))
        func note(_ field: String, named name: String = "note") -> CKRecord {
            let note = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name))
            note[field] = "text"
            return note
        }
        func refusal(_ database: CKDatabase, _ record: CKRecord) async -> String {
            let error = await thrown { _ = try await database.save(record) }
            #expect(error?.code == .invalidArguments)
            return error?.localizedDescription ?? ""
        }
        #expect(
            await refusal(production, note("title")).contains(
                "Cannot create new type Note in production schema"
            )
        )
        _ = try await development.save(note("title"))
        #expect(
            try await self.output("schema", "deploy", "--yes").contains(
                "+ title STRING QUERYABLE SEARCHABLE SORTABLE"
            )
        )
        _ = try await production.save(note("title"))
        let field = "Cannot create or modify field 'other' in record 'Note' in production schema"
        #expect(await refusal(production, note("other", named: "new")).contains(field))

        let roles = try self.file(
            "CREATE ROLE editor; RECORD TYPE Note (title STRING, GRANT READ TO \"_world\", GRANT WRITE TO editor);"
        )
        _ = try await self.output("schema", "import", roles)
        let known = try await development.record(for: note("title").recordID)
        known["title"] = "changed"
        await expect(.permissionFailure) { _ = try await development.save(known) }
        #expect(try await self.output("user", "role", "list", "test") == "")
        #expect(
            try await self.output("user", "role", "add", "test", "editor")
                == "test has the role editor in development.\n"
        )
        #expect(try await self.output("user", "role", "list", "test") == "editor\n")
        _ = try await development.save(known)
        _ = try await self.output("user", "role", "remove", "test", "editor")
        await expect(.permissionFailure) { _ = try await development.save(known) }
        let missing = try await self.run("user", "role", "add", "test", "writer")
        #expect(missing.exitCode == 65)
        #expect(missing.errors.contains("CREATE ROLE writer;"))

        let reset = try await self.output("schema", "reset", "--yes")
        #expect(
            reset.hasPrefix(
                "Deleted development's data of iCloud.a.\n- CREATE ROLE editor\n~ RECORD TYPE Note\n"
            )
        )
        await expect(.unknownItem) { _ = try await development.record(for: note("title").recordID) }
        _ = try await production.record(for: note("title").recordID)
        _ = try await development.save(note("title"))
        server.process.signal(SIGTERM)
        #expect(await server.process.outcome().exitCode == 0)
    }
}
