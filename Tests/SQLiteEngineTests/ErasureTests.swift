import Foundation
import GRDBSQLite
import RecordModel
import RecordStore
import SQLiteSetup
import TestSupport
import Testing

@testable import EngineConformance
@testable import SQLiteEngine

/// What is deleted is overwritten: in the file, in its log, and in copies that are made later.
///
/// `SEED=… swift test --filter ErasureTests` repeats a run.
@Suite(.timeLimit(.minutes(10)))
struct ErasureTests {
    private static let alices = "a secret of alice "
    private static let bobs = "a secret of bob "
    private static let earlier = "an earlier value "

    private static func count(_ text: String, in path: String) throws -> Int {
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        let text = Data(text.utf8)
        var (count, start) = (0, data.startIndex)
        while let found = data[start...].firstRange(of: text) {
            count += 1
            start = found.upperBound
        }
        return count
    }

    /// Records of both users in turns, of all sizes, with names that come in no order.
    private static func fill(_ it: EngineUnderTest, _ generator: inout SeededGenerator) async throws {
        for _ in 0..<30 {
            for (requester, text) in [(it.privately, Self.alices), (it.bobPrivately, Self.bobs)] {
                let saves = (0..<20).map { _ in
                    let filler = String(
                        repeating: "x",
                        count: [100, 400, 1_500, 9_000].randomElement(using: &generator)!
                    )
                    return save("n\(generator.next())", ["text": .string(text + filler)])
                }
                let outcome = try await it.modify(saves, by: requester)
                #expect(outcome.areSaved)
            }
        }
    }

    @Test
    func `deleted users and records, and values that were replaced, are in no file any more`() async throws {
        var generator = SeededGenerator.fromEnvironment()
        print("SEED=\(generator.seed)")
        let it = try await EngineUnderTest.withNotes(.sqlite) { $0.logSecondsMax = 0 }
        _ = try await it.modifyZones(["notes"], by: it.bobPrivately)
        try await Self.fill(it, &generator)
        let names = (0..<50).map { "r\($0)" }
        func all(_ text: String) -> [RecordSave] {
            names.map { save($0, ["text": .string(text + String(repeating: "y", count: 700))]) }
        }
        #expect(try await it.modify(all(Self.earlier), by: it.bobPrivately).areSaved)
        #expect(
            try await it.modify(all(Self.earlier + "2 "), policy: .allKeys, by: it.bobPrivately).areSaved
        )
        #expect(try await it.modify(all(Self.bobs), policy: .allKeys, by: it.bobPrivately).areSaved)
        _ = try await it.modify([], deletes: names.prefix(25).map { id($0) }, by: it.bobPrivately)

        let file = it.folder.path + "/tidemark.sqlite"
        #expect(try Self.count(Self.alices, in: file + "-wal") + Self.count(Self.alices, in: file) >= 600)
        let deletion = Deletion.user(name: "alice", container: EngineUnderTest.container)
        try it.store.directory.beginDeletion(deletion)
        while try it.store.directory.deleteSome(of: deletion) != .done {
            try await Task.sleep(for: .milliseconds(1))
        }

        // While the server runs, a copy has nothing of it, and soon the log neither.
        let copy = it.folder.path + "/copy.sqlite"
        _ = try StoreFile(in: it.folder.path).copy(to: copy) { _ in }
        #expect(try Self.count(Self.alices, in: copy) == 0)
        #expect(try Self.count(Self.earlier, in: copy) == 0)
        #expect(try Self.count(Self.bobs, in: copy) >= 600 + 25)
        while try Self.count(Self.alices, in: file + "-wal") > 0 {
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(try Self.count(Self.alices, in: file) == 0)
        #expect(try Self.count(Self.earlier, in: file) == 0)
        #expect(try Self.count(Self.bobs, in: file) >= 600 + 25)
        await it.store.shutdown()
    }

    /// Trees split and join in the order of random keys; SQLite leaves what it moved in the pages.
    @Test
    func `pages have no bytes that SQLite does not use, and the file is sound`() async throws {
        let it = try EngineUnderTest(.sqlite)
        defer { withExtendedLifetime(it) {} }
        var generator = SeededGenerator.fromEnvironment()
        print("SEED=\(generator.seed)")
        let folder = try TemporaryDirectory()
        let file = try PlainFile(path: folder.path + "/file.sqlite")
        try file.run("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA secure_delete = ON")
        try file.run("CREATE TABLE t (k TEXT PRIMARY KEY, u INTEGER, v TEXT) WITHOUT ROWID")
        try file.run("CREATE TABLE r (k INTEGER PRIMARY KEY, v BLOB); CREATE INDEX i ON t (u, v)")
        for number in 0..<4_000 {
            let user = Int.random(in: 1...3, using: &generator)
            let key = String(generator.next(), radix: 16)
            let filler = String(repeating: "z", count: Int.random(in: 0...900, using: &generator))
            try file.run("INSERT INTO t VALUES ('\(key)', \(user), 'user \(user) of ours \(filler)')")
            try file.run(
                "INSERT INTO r VALUES (\(Int32.random(in: 0...(.max), using: &generator)), zeroblob(50))"
            )
            if number % 500 == 499 { try file.run("PRAGMA wal_checkpoint") }
        }
        try file.run("DELETE FROM t WHERE u = 2")
        try file.run("PRAGMA wal_checkpoint(TRUNCATE)")
        let path = folder.path + "/file.sqlite"
        #expect(try Self.count("user 2 of ours", in: path) == 0)
        let alive = try file.rows("SELECT count(*) FROM t")[0][0]
        // In the table and in the index, and nowhere else.
        #expect(try Self.count("of ours", in: path) == 2 * Int(alive))
        #expect(try file.rows("SELECT integrity_check = 'ok' FROM pragma_integrity_check") == [[1]])
        // From the file alone, without anything that is in memory.
        let other = try PlainFile(path: path)
        #expect(try other.rows("SELECT count(*) FROM t WHERE v LIKE 'user % of ours %'") == [[alive]])
        #expect(try other.rows("SELECT integrity_check = 'ok' FROM pragma_integrity_check") == [[1]])
    }
}
