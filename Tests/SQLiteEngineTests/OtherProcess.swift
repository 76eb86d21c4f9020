import Foundation
import TestSupport

/// Another process that has the file of an engine open and says what it likes in SQL.
///
/// Python, because its standard library has SQLite: no test links an engine's own. It leaves what it
/// writes in the log, since it knows nothing of the checksums of pages.
///
/// The view `entries` has the parts of the keys of `index_entry`; `key_part` gives one of them: the
/// database, the zone, the index, or the value.
struct OtherProcess {
    struct Failure: Error {
        let exitCode: Int32
        let errors: String
    }

    let folder: TemporaryDirectory

    private static let script = """
        import os, sqlite3, sys
        connection = sqlite3.connect(sys.argv[1], timeout=20, isolation_level=None)
        def key_part(key, part):
            for _ in range(part + (part < 3)):
                count = max(key[0] - 239, 0)
                number, key = int.from_bytes(key[1:1 + count], "big") if count else key[0], key[1 + count:]
            return key if part == 3 else number
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.create_function("key_part", 2, key_part, deterministic=True)
        connection.execute(
            "CREATE TEMP VIEW entries AS SELECT key_part(key, 0) AS database, key_part(key, 1) AS zone, "
            "key_part(key, 2) AS field, key_part(key, 3) AS value, record FROM index_entry")
        statements = sys.argv[2:]
        if len(statements) > 1: connection.execute("BEGIN IMMEDIATE")
        for statement in statements:
            for row in connection.execute(statement): print(row[0])
        if len(statements) > 1: connection.execute("COMMIT")
        sys.stdout.flush()
        os._exit(0)
        """

    /// The first column of each row.
    @discardableResult
    func execute(_ sql: String) async throws -> [String] { try await self.execute([sql]) }

    /// Several statements in one transaction.
    @discardableResult
    func execute(_ statements: [String]) async throws -> [String] {
        let outcome = try await ChildProcess.run(
            URL(fileURLWithPath: "/usr/bin/python3"),
            ["-c", Self.script, self.folder.path + "/tidemark.sqlite"] + statements
        )
        guard outcome.exitCode == 0 else { throw Failure(exitCode: outcome.exitCode, errors: outcome.errors) }
        return outcome.output.split(separator: "\n").map { String($0) }
    }

    func count(_ table: String) async throws -> Int {
        Int(try await self.execute("SELECT count(*) FROM \(table)")[0]) ?? -1
    }
}
