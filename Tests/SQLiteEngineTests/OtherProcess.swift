import Foundation
import TestSupport

/// Another process that has the file of an engine open and says what it likes in SQL.
///
/// Python, because its standard library has SQLite: no test links an engine's own.
struct OtherProcess {
    struct Failure: Error {
        let exitCode: Int32
        let errors: String
    }

    let folder: TemporaryDirectory

    private static let script = """
        import sqlite3, sys
        connection = sqlite3.connect(sys.argv[1], timeout=20, isolation_level=None)
        statements = sys.argv[2:]
        if len(statements) > 1: connection.execute("BEGIN IMMEDIATE")
        for statement in statements:
            for row in connection.execute(statement): print(row[0])
        if len(statements) > 1: connection.execute("COMMIT")
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
