import Foundation
import GRDBSQLite
import SQLiteSetup
import TestSupport
import Testing

@testable import SQLiteEngine

/// The log is written with few calls, and holds what SQLite wrote, whoever writes next.
///
/// `PageCacheTests` changes a file at random through the same file system.
@Suite(.timeLimit(.minutes(10)))
struct LogFileTests {
    private let folder: TemporaryDirectory

    init() throws {
        _ = SQLiteProcess.isSetUp
        self.folder = try TemporaryDirectory()
    }

    private func open(cachePages: Int) throws -> PlainFile {
        let file = try PlainFile(path: self.folder.path + "/file.sqlite")
        try file.run("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0")
        try file.run("PRAGMA cache_size = \(cachePages)")
        try file.run("CREATE TABLE IF NOT EXISTS t (k INTEGER PRIMARY KEY, v BLOB)")
        return file
    }

    private static func fill(_ file: PlainFile, keys: Range<Int>) throws {
        try file.run(
            """
            INSERT OR REPLACE INTO t
            WITH RECURSIVE n (k) AS (
                VALUES (\(keys.lowerBound)) UNION ALL SELECT k + 1 FROM n WHERE k < \(keys.upperBound - 1)
            )
            SELECT k, randomblob(2000) FROM n
            """
        )
    }

    @Test
    func `a commit of 1,000 pages takes a call for 31 of them`() async {
        await #expect(processExitsWith: .success) {
            let test = try LogFileTests()
            let file = try test.open(cachePages: 10_000)
            let before = try Self.callsThatWrite()
            try file.run("BEGIN")
            try Self.fill(file, keys: 0..<2_000)
            try file.run("COMMIT")
            let calls = try Self.callsThatWrite() - before
            // 1,000 pages, of which each would take two calls.
            precondition((30...60).contains(calls), "\(calls)")
        }
    }

    /// Calls of this process that wrote something, as the kernel counts them.
    private static func callsThatWrite() throws -> Int {
        let text = try String(contentsOfFile: "/proc/self/io", encoding: .utf8)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("syscw: ") })
        return try #require(Int(line.dropFirst("syscw: ".count)))
    }

    @Test(arguments: 1...40)
    func `frames that were taken back never reach the log of the next writer`(keys: Int) throws {
        // A cache of ten pages: frames are in the log long before the end of a transaction.
        let first = try self.open(cachePages: 10)
        let second = try self.open(cachePages: 10)
        try first.run("BEGIN")
        try Self.fill(first, keys: 0..<(keys * 3))
        try first.run("ROLLBACK")
        try Self.fill(second, keys: 1_000..<(1_000 + keys))
        let written = try second.rows("SELECT count(*), sum(length(v)) FROM t")
        // The connection that was taken back reads its log, and writes the next transaction.
        #expect(try first.rows("SELECT count(*), sum(length(v)) FROM t") == written)
        try Self.fill(first, keys: 2_000..<(2_000 + keys))
        let both = [[Int64(2 * keys), Int64(2 * keys * 2_000)]]
        for file in [first, second] {
            #expect(try file.rows("SELECT count(*), sum(length(v)) FROM t") == both)
            #expect(try file.rows("SELECT integrity_check = 'ok' FROM pragma_integrity_check") == [[1]])
        }
        // From the log alone, as after a crash.
        let copy = self.folder.path + "/copy"
        try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(
                atPath: self.folder.path + "/file.sqlite" + suffix,
                toPath: copy + "/file.sqlite" + suffix
            )
        }
        let recovered = try PlainFile(path: copy + "/file.sqlite")
        #expect(try recovered.rows("SELECT count(*), sum(length(v)) FROM t") == both)
    }

    @Test
    func `a transaction reads what it has written before it ends`() throws {
        let file = try self.open(cachePages: 10)
        try file.run("BEGIN")
        try Self.fill(file, keys: 0..<500)
        #expect(try file.rows("SELECT count(*), sum(length(v)) FROM t") == [[500, 1_000_000]])
        try file.run("SAVEPOINT s; DELETE FROM t WHERE k % 2 = 0; ROLLBACK TO s; RELEASE s")
        #expect(try file.rows("SELECT count(*) FROM t") == [[500]])
        try file.run("COMMIT")
        #expect(try self.open(cachePages: 10).rows("SELECT count(*) FROM t") == [[500]])
    }
}
