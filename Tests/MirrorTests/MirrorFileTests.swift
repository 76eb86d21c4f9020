import CloudKit
import CloudKitMirror
import Foundation
import GRDB
import TestSupport
import Testing

/// Files that can't be opened, and what may be written to one; no server is needed for either.
@Suite(.timeLimit(.minutes(5)))
struct MirrorFileTests {
    private let folder: TemporaryDirectory
    private let path: String
    private let container = CKContainer(
        identifier: "iCloud.test",
        // Nothing listens there.
        connection: CKServerConnection(url: "tidemark://127.0.0.1:1", token: "token")
    )

    init() throws {
        self.folder = try TemporaryDirectory()
        self.path = self.folder.path + "/mirror.sqlite"
    }

    private func open(
        _ tables: [MirrorTable] = [MirrorDesk.notes],
        zones: [String] = ["desk"]
    ) async throws -> Mirror {
        try await Mirror(at: self.path, of: self.container, .init(zones: zones, tables: tables))
    }

    private func failure(
        _ tables: [MirrorTable] = [MirrorDesk.notes],
        zones: [String] = ["desk"]
    ) async -> MirrorError? {
        do {
            try await self.open(tables, zones: zones).close()
            return nil
        } catch {
            return error as? MirrorError
        }
    }

    private func bytes() throws -> Data { try Data(contentsOf: URL(fileURLWithPath: self.path)) }

    @Test
    func `a file of another program is refused and left as it was`() async throws {
        try "SELECT 1;".write(toFile: self.path, atomically: false, encoding: .utf8)
        let text = try self.bytes()
        #expect(await self.failure() == .notAMirror(path: self.path))
        #expect(try self.bytes() == text)

        try FileManager.default.removeItem(atPath: self.path)
        _ = try await python(self.path, "CREATE TABLE mine (id)")
        let database = try self.bytes()
        #expect(await self.failure() == .notAMirror(path: self.path))
        #expect(try self.bytes() == database)
        #expect(try FileManager.default.contentsOfDirectory(atPath: self.folder.path) == ["mirror.sqlite"])
    }

    @Test
    func `a file of a newer version, of another database or of a running mirror is refused`() async throws {
        let mirror = try await self.open()
        #expect(await self.failure() == .inUse(path: self.path))
        await mirror.close()

        _ = try await python(self.path, "PRAGMA user_version = 2; PRAGMA wal_checkpoint(TRUNCATE)")
        #expect(await self.failure() == .newerVersion(path: self.path, found: 2, known: 1))
        _ = try await python(self.path, "PRAGMA user_version = 1; PRAGMA wal_checkpoint(TRUNCATE)")
        #expect(await self.failure() == nil)

        _ = try await python(self.path, "UPDATE tidemark_state SET home = 'iCloud.other/development'")
        #expect(
            await self.failure() == .otherDatabase(path: self.path, found: "iCloud.other/development")
        )
    }

    @Test
    func `a folder that takes no files is one that can't be written`() async throws {
        for path in ["/proc/mirror.sqlite", self.folder.path] {
            await #expect(throws: MirrorError.self) {
                _ = try await Mirror(
                    at: path,
                    of: self.container,
                    .init(zones: ["desk"], tables: [MirrorDesk.notes])
                )
            }
        }
    }

    @Test
    func `a read-only file is refused to a program without privileges`() async throws {
        try await self.open().close()
        // The program's user owns nothing here; root without capabilities may write only what it owns.
        try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: self.path)
        let program = ChildProcess.buildFolder.appendingPathComponent("tidemark-mirror")
        var command = [program.path, self.path, "--once"]
        if geteuid() == 0 {
            command = ["/usr/bin/setpriv", "--bounding-set=-all", "--inh-caps=-all"] + command
        }
        let outcome = try await ChildProcess.run(
            URL(fileURLWithPath: command[0]),
            Array(command.dropFirst()),
            environment: ["TIDEMARK_CONTAINER": "iCloud.test", "TIDEMARK_URL": "tidemark://127.0.0.1:1"]
        )
        #expect(outcome.exitCode == 73)
        #expect(outcome.errors.contains("can't be written"), "\(outcome.errors)")
    }

    @Test(
        arguments: [
            "DROP TABLE Note": "it is missing",
            "ALTER TABLE Note DROP COLUMN weight": "",
            "ALTER TABLE Note RENAME COLUMN pages TO sheets": "the column pages is missing",
            #"DROP TRIGGER "tidemark_Note.update""#: "the trigger tidemark_Note.update is missing",
        ]
    )
    func `a table that was altered is refused with what is wrong`(
        _ sql: String,
        _ detail: String
    )
        async throws
    {
        try await self.open().close()
        do {
            _ = try await python(self.path, sql)
        } catch let error as PythonFailure where detail.isEmpty {
            // SQLite itself refuses to drop a column that triggers use.
            #expect(error.text.contains("error in trigger"))
            return
        }
        #expect(await self.failure() == .tableAltered(table: "Note", detail: detail))
    }

    @Test
    func `a declaration that can't be a table is refused, and no file is made`() async throws {
        let faults: [MirrorTable] = [
            .init("a b", columns: []), .init("sqlite_x", columns: []), .init("Tidemark_x", columns: []),
            .init("Note", columns: [.init("a", .string), .init("A", .int64)]),
            .init("Note", columns: [.init("___zone", .string)]),
            .init("Note", columns: [.init("r", .reference, isEncrypted: true)]),
            .init("Note", columns: (0..<1_001).map { .init("c\($0)", .string) }),
        ]
        for table in faults {
            guard case .invalidTable = await self.failure([table]) else {
                Issue.record("\(table.recordType) was accepted")
                continue
            }
        }
        guard case .invalidTable = await self.failure([.init("A", columns: []), .init("a", columns: [])])
        else { throw PythonFailure(text: "two tables of one name") }
        guard case .invalidZone = await self.failure(zones: ["_defaultZone"]) else {
            throw PythonFailure(text: "the default zone")
        }
        #expect(!FileManager.default.fileExists(atPath: self.path))
        #expect(await self.failure([]) == .invalidTable(table: "", detail: "there is none: declare one"))
    }

    @Test
    func `columns and tables may be added later, and none changes its type`() async throws {
        try await self.open().close()
        let more = MirrorTable("Note", columns: [.init("color", .string, isIndexed: true)])
        let other = MirrorTable("Other", columns: [.init("size", .int64)])
        let mirror = try await self.open([more, other], zones: ["second"])
        try await mirror.execute("INSERT INTO Note (title, color) VALUES ('a', 'red')")
        try await mirror.execute("INSERT INTO Other (___zone, size) VALUES (2, 3)")
        try await mirror.execute("UPDATE Note SET color = 'blue'")
        #expect(try await mirror.status().pending == 2)
        await mirror.close()
        // What is declared no more stays.
        try await self.open([], zones: []).close()
        let retyped = MirrorTable("Note", columns: [.init("color", .bytes)])
        #expect(
            await self.failure([retyped])
                == .invalidTable(table: "Note", detail: "the column color was declared as string before")
        )
    }

    @Test
    func `changes of every writer are noted, and nothing else`() async throws {
        let mirror = try await self.open()
        let pending = "SELECT name FROM tidemark_pending ORDER BY rowid"
        _ = try await python(self.path, "INSERT INTO Note (___recordName, title) VALUES ('a', 'x')")
        #expect(try await python(self.path, pending) == "a\n")
        _ = try await python(
            self.path,
            """
            INSERT OR REPLACE INTO Note (___recordName, title) VALUES ('a', 'y');
            INSERT OR IGNORE INTO Note (___recordName, title) VALUES ('a', 'z');
            REPLACE INTO Note (___recordName, title) VALUES ('b', 'y');
            UPDATE OR REPLACE Note SET title = 'w' WHERE ___recordName = 'b'
            """
        )
        #expect(try await python(self.path, pending) == "a\nb\n")
        _ = try await python(self.path, "DELETE FROM tidemark_pending; UPDATE Note SET title = title")
        #expect(try await python(self.path, pending) == "")
        _ = try await python(self.path, "DELETE FROM Note WHERE ___recordName = 'a'")
        #expect(try await python(self.path, pending) == "a\n")
        await mirror.close()
    }

    @Test(
        arguments: [
            "UPDATE Note SET ___modTime = 0": "the server writes",
            "UPDATE Note SET ___recordName = 'other'": "a record keeps its zone and name",
            "INSERT INTO Note (___zone) VALUES (77)": "___zone is not a number of tidemark_zone",
            "INSERT INTO Note (___recordName) VALUES ('')": "CHECK constraint failed",
            "INSERT INTO Note (pages) VALUES ('many')": "cannot store TEXT value in INTEGER column",
            "INSERT INTO Other (___recordName) VALUES ('a')": "a record of another type has this name",
        ]
    )
    func `what no record can be is refused by the table`(_ sql: String, _ text: String) async throws {
        let mirror = try await self.open([MirrorDesk.notes, .init("Other", columns: [])])
        _ = try await python(self.path, "INSERT INTO Note (___recordName, title) VALUES ('a', 'x')")
        do {
            _ = try await python(self.path, sql)
            Issue.record("accepted: \(sql)")
        } catch let error as PythonFailure {
            #expect(error.text.contains(text), "\(error.text)")
        }
        await mirror.close()
    }
}
