import GRDBSQLite
import SQLiteSetup
import TestSupport
import Testing

@testable import EngineConformance
@testable import SQLiteEngine

/// A file that grows, shrinks and takes back what it did reads the same through the page cache of
/// `SQLiteSetup` as it was written.
///
/// `SEED=… swift test --filter PageCacheTests` repeats a run.
@Suite(.timeLimit(.minutes(10)))
struct PageCacheTests {
    private static let rounds = 600
    private static let keys: Int64 = 4_000
    private static let valueBytesMax: Int64 = 1_500

    @Test
    func `whatever is written, taken back and given up, the file is what was committed`() throws {
        // An engine sets SQLite up for the process.
        let engine = try EngineUnderTest(.sqlite)
        defer { withExtendedLifetime(engine) {} }
        #expect(sqlite_setup_page_cache_is_used() == 1)
        var generator = SeededGenerator.fromEnvironment()
        print("SEED=\(generator.seed)")
        let folder = try TemporaryDirectory()
        let file = try PlainFile(path: folder.path + "/file.sqlite")
        // A cache smaller than the file, so that pages leave it in any order.
        try file.run("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF")
        try file.run(
            "PRAGMA cache_size = 300; CREATE TABLE t (k INTEGER PRIMARY KEY, v INTEGER); CREATE INDEX i ON t (v)"
        )
        try file.run("CREATE TABLE b (k TEXT PRIMARY KEY, v BLOB) WITHOUT ROWID")
        // What one writes, the other has to forget from its cache.
        let second = try PlainFile(path: folder.path + "/file.sqlite")
        try second.run("PRAGMA synchronous = OFF; PRAGMA cache_size = 300")
        let files = [file, second]
        var lengths: [Int64: Int64] = [:]
        for round in 1...Self.rounds {
            let file = files.randomElement(using: &generator)!
            let before = lengths
            try file.run("BEGIN")
            try Self.change(file, &lengths, &generator)
            if Bool.random(using: &generator) {
                let kept = lengths
                try file.run("SAVEPOINT s")
                try Self.change(file, &lengths, &generator)
                if Bool.random(using: &generator) {
                    try file.run("ROLLBACK TO s")
                    lengths = kept
                }
                try file.run("RELEASE s")
            }
            if Int.random(in: 0..<4, using: &generator) == 0 {
                try file.run("ROLLBACK")
                lengths = before
            } else {
                try file.run("COMMIT")
            }
            if Int.random(in: 0..<20, using: &generator) == 0 {
                try file.run("PRAGMA incremental_vacuum(50)")
            }
            if Int.random(in: 0..<100, using: &generator) == 0 { try file.run("VACUUM") }
            for file in files {
                try Self.compare(
                    file,
                    lengths,
                    isThorough: round % 50 == 0,
                    "round \(round), seed \(generator.seed)"
                )
            }
        }
    }

    @Test
    func `a process that opens a backup before any store has the page cache`() async {
        await #expect(processExitsWith: .success) {
            #expect(throws: (any Error).self) { try SQLiteStoreFiles().copy(ofBackup: "/nowhere/file") }
            precondition(sqlite_setup_page_cache_is_used() == 1)
        }
    }

    @Test
    func `a process that opens the rows of a move before any store has the page cache`() async {
        await #expect(processExitsWith: .success) {
            #expect(throws: (any Error).self) { try FileRows("/nowhere/file") }
            precondition(sqlite_setup_page_cache_is_used() == 1)
        }
    }

    /// Writes, replaces and now and then deletes a good part, so that pages split and the file gets shorter.
    private static func change(
        _ file: PlainFile,
        _ lengths: inout [Int64: Int64],
        _ generator: inout SeededGenerator
    ) throws {
        if Int.random(in: 0..<6, using: &generator) == 0 {
            let first = Int64.random(in: 0..<self.keys, using: &generator)
            let range = first..<first + self.keys / 2
            try file.run("DELETE FROM t WHERE k >= \(range.lowerBound) AND k < \(range.upperBound)")
            try file.run(
                "DELETE FROM b WHERE CAST(substr(k, 9) AS INTEGER) BETWEEN \(first) AND \(range.upperBound - 1)"
            )
            lengths = lengths.filter { !range.contains($0.key) }
        }
        for _ in 0..<Int.random(in: 1...60, using: &generator) {
            let key = Int64.random(in: 0..<self.keys, using: &generator)
            let length = Int64.random(in: 0..<self.valueBytesMax, using: &generator)
            try file.run("INSERT OR REPLACE INTO t VALUES (\(key), \(length))")
            // Keys whose order has nothing to do with their numbers split pages in the middle.
            let scattered = String(key &* 2_654_435_761 & 0xFFFF_FFFF | 0x1_0000_0000, radix: 16).suffix(8)
            try file.run("INSERT OR REPLACE INTO b VALUES ('\(scattered)\(key)', zeroblob(\(length)))")
            lengths[key] = length
        }
    }

    private static func compare(
        _ file: PlainFile,
        _ lengths: [Int64: Int64],
        isThorough: Bool,
        _ place: Comment
    ) throws {
        let sum = lengths.values.reduce(0, +)
        #expect(try file.rows("SELECT count(*), total(v) FROM t") == [[Int64(lengths.count), sum]], place)
        #expect(
            try file.rows("SELECT count(*), total(length(v)) FROM b") == [[Int64(lengths.count), sum]],
            place
        )
        guard isThorough else { return }
        let expected = lengths.sorted { $0.key < $1.key }.map { [$0.key, $0.value] }
        #expect(try file.rows("SELECT k, v FROM t ORDER BY k") == expected, place)
        #expect(
            try file.rows("SELECT CAST(substr(k, 9) AS INTEGER) AS n, length(v) FROM b ORDER BY n")
                == expected,
            place
        )
        #expect(try file.rows("SELECT integrity_check = 'ok' FROM pragma_integrity_check") == [[1]], place)
    }
}
