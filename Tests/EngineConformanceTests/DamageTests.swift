import Foundation
import PostgreSQLCluster
import PostgreSQLEngine
import RecordModel
import RecordStore
import TestSupport
import Testing

/// A disk that gives other bytes than it took: one record is lost, and nothing else.
@Suite(.timeLimit(.minutes(5)))
struct DamageTests {
    private static let kinds: [EngineKind] = [.sqlite, .postgreSQL]

    /// Stores other bytes in place of a record's body.
    private static func replaceBody(
        of name: String,
        with bytes: [UInt8],
        in it: EngineUnderTest
    ) throws {
        let hex = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        switch it.kind {
        case .postgreSQL, .postgreSQLWithFailures:
            let target = try PostgreSQLCluster.running().target(standingFor: it.folder.path)
            try PostgreSQLCluster.running().row(
                "UPDATE tidemark.record SET body = '\\x\(hex)' WHERE name = '\(name)'",
                in: try #require(target.databaseName)
            )
        case .sqlite, .sqliteWithFailures, .memory:
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = [
                "python3", "-c",
                """
                import sqlite3, sys
                connection = sqlite3.connect(sys.argv[1], timeout=30)
                connection.execute("UPDATE record SET body = ? WHERE name = ?",
                    (bytes.fromhex(sys.argv[2]), sys.argv[3]))
                connection.commit()
                """,
                it.folder.path + "/tidemark.sqlite", hex, name,
            ]
            try process.run()
            process.waitUntilExit()
            try #require(process.terminationStatus == 0)
        }
    }

    private static func engine(_ kind: EngineKind) async throws -> EngineUnderTest {
        let it = try await EngineUnderTest.withNotes(kind)
        for name in ["bad", "good"] {
            let fields: [String: FieldValue] = ["title": .string(name), "list": .int64List([1, 2, 3])]
            #expect(try await it.modify([save(name, fields)]).areSaved)
        }
        return it
    }

    @Test(arguments: Self.kinds)
    func `a damaged record fails by its name, and can be deleted`(kind: EngineKind) async throws {
        let before = try await Self.engine(kind)
        try Self.replaceBody(of: "bad", with: [0xFF, 0xFF, 0xFF], in: before)
        // An engine may remember what it wrote.
        let it = try await before.reopened()
        let damaged = StoreError.recordDamaged(id("bad"))
        #expect(damaged.row.code == .internalError)
        #expect(damaged.row.text.contains("bad"))
        for keys in [nil, ["title"]] {
            let found = try await it.fetch([id("bad"), id("good")], desiredKeys: keys)
            #expect(found[0] == .failed(damaged))
            #expect(try await it.record(id("good"))?["title"] == .string("good"))
            let read = FeedRead(zone: notes, desiredKeys: keys)
            await #expect(throws: damaged) { try await it.changes(read) }
        }
        let sorted = Query(recordType: "Note", sort: [SortKey(field: "title")])
        await #expect(throws: damaged) { try await it.query(QueryRead(query: sorted, zone: notes)) }
        let saved = try await it.modify(
            [save("bad", ["title": .string("x")])],
            policy: .changedKeys,
            isAtomic: false
        )
        #expect(saved[0] == .failed(damaged))
        _ = try await it.modify([], deletes: [id("bad")])
        #expect(try await it.fetch([id("bad")]) == [.failed(.recordMissing)])
        #expect(NumberedNotes.names(try await it.query(QueryRead(query: sorted, zone: notes))) == ["good"])
        #expect(try await it.modify([save("bad", ["title": .string("again")])]).areSaved)
        #expect(
            NumberedNotes.names(try await it.query(QueryRead(query: sorted, zone: notes))) == ["bad", "good"]
        )
    }

    @Test(arguments: Self.kinds)
    func `no flipped bits of a body end the process`(kind: EngineKind) async throws {
        let it = try await Self.engine(kind)
        var generator = SeededGenerator.fromEnvironment()
        let whole = try #require(try await it.record(id("good"))).body.bytes
        let query = QueryRead(query: Query(recordType: "Note", sort: [SortKey(field: "title")]), zone: notes)
        for round in 0..<kind.rounds(24) {
            var bytes = whole
            for _ in 0...Int.random(in: 0..<4, using: &generator) {
                bytes[Int.random(in: bytes.indices, using: &generator)] ^=
                    1
                    << UInt8.random(
                        in: 0..<8,
                        using: &generator
                    )
            }
            try Self.replaceBody(of: "bad", with: bytes, in: it)
            _ = try? await it.query(query)
            _ = try? await it.changes(FeedRead(zone: notes))
            for outcome in try await it.fetch([id("bad")], desiredKeys: round % 2 == 0 ? nil : ["list"]) {
                if case .record(let record) = outcome { _ = record.body.fields }
            }
            _ = try? await it.modify(
                [save("bad", ["list": .int64List([4])])],
                policy: .changedKeys,
                isAtomic: false
            )
        }
        _ = try await it.modify([], deletes: [id("bad")])
        #expect(try await it.record(id("good"))?["title"] == .string("good"))
    }
}
