import Foundation
import RecordModel
import RecordStore
import TestSupport
import Testing

@testable import EngineConformanceTests
@testable import SQLiteEngine

/// Files of format 11, whose entries are copied while the store is used.
@Suite(.timeLimit(.minutes(5)))
struct EntryCopyTests {
    static let earlierTable = """
        CREATE TABLE entry (
            database INTEGER NOT NULL,
            zone INTEGER NOT NULL,
            field INTEGER NOT NULL,
            value BLOB NOT NULL,
            record INTEGER NOT NULL,
            PRIMARY KEY (database, zone, field, value, record)
        ) STRICT, WITHOUT ROWID
        """
    /// What the entries were in the earlier table.
    static let earlierEntries = """
        INSERT INTO entry (database, zone, field, value, record)
        SELECT database, zone, field, value, record FROM entries
        """
    private static let asOfFormat11 =
        FormatTests.asOfFormat12 + [
            earlierTable, earlierEntries, "DROP TABLE index_entry", "DROP TABLE entry_copy",
            "DELETE FROM grdb_migrations WHERE identifier = '12'", "PRAGMA user_version = 11",
        ]

    /// Notes in two zones, in a file of format 11 that was opened.
    private static func opened(
        _ count: Int,
        copyingAtOnce entries: Int
    ) async throws -> (EngineUnderTest, OtherProcess) {
        let it = try await NumberedNotes.engine(count, .sqlite) { $0.entriesCopiedAtOnce = entries }
        _ = try await it.modifyZones(["other"])
        _ = try await it.modify([save("o", in: ZoneID(zoneName: "other"), ["number": .int64(3)])])
        await it.store.shutdown()
        let other = OtherProcess(folder: it.folder)
        try await other.execute(Self.asOfFormat11)
        return (try await it.reopened(), other)
    }

    private static func finished(_ other: OtherProcess) async throws {
        while try await other.count("entry_copy") > 0 {}
        #expect(try await other.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'entry'") == ["0"])
    }

    @Test
    func `a file of format 11 opens, and its entries are copied`() async throws {
        let folder = try FixtureContents.folder(ofFormat: 11)
        let other = OtherProcess(folder: folder)
        let before = try await other.execute(
            "SELECT database || ' ' || zone || ' ' || field || ' ' || hex(value) || ' ' || record FROM entry"
        )
        #expect(before.count == 14)
        let it = try EngineUnderTest(.sqlite, openingFilesIn: folder)
        try await Self.finished(other)
        let after = try await other.execute(
            "SELECT database || ' ' || zone || ' ' || field || ' ' || hex(value) || ' ' || record FROM entries"
        )
        #expect(after == before)
        #expect(try await it.wrongCounters() == [])
        let contents = try await IndexContents(of: other)
        #expect(Set(contents.present) == contents.expected)
    }

    @Test
    func `queries and saves go on while entries are copied, and none is lost`() async throws {
        // Beside other tests the copy may end before the first query.
        for _ in 0..<5 where try await self.isUnderWayWhileQueriesAndSavesGoOn() { return }
        Issue.record("the copy was never under way")
    }

    /// Returns whether the copy was under way for a part of the queries and saves.
    private func isUnderWayWhileQueriesAndSavesGoOn() async throws -> Bool {
        let count = 4_000
        let (it, other) = try await Self.opened(count, copyingAtOnce: 2)
        var pages = 0
        for round in 0..<60 {
            let number = Int64(round * 7)
            let read = QueryRead(
                query: Query(recordType: "Note", predicate: NumberedNotes.number(.equals, number))
            )
            let names = try await NumberedNotes.names(it.query(read))
            #expect(names.filter { $0.hasPrefix("n") } == ["n\(1_000 + number)"])
            let all = QueryRead(query: Query(recordType: "Note"), zone: notes, isCount: true)
            #expect(try await it.query(all).count == Int64(count - round + (round + 1) / 2))
            // A record changes, one goes, and now and then one comes.
            _ = try await it.modify([save("n\(1_500 + round)", ["number": .int64(-1)])], policy: .changedKeys)
            _ = try await it.modify([], deletes: [id("n\(4_900 - round)")])
            if round % 2 == 0 {
                _ = try await it.modify([save("new\(round)", NumberedNotes.fields(9_000 + round))])
            }
            pages += try await other.count("entry_copy")
        }
        _ = try await it.modifyZones([], deletes: ["other"])
        try await Self.finished(other)
        try await it.swept()
        let contents = try await IndexContents(of: other)
        #expect(Set(contents.present) == contents.expected)
        #expect(contents.present.count == contents.expected.count && contents.present.count > 4 * count)
        #expect(try await it.wrongCounters() == [])
        await it.store.shutdown()
        return pages > 0
    }

    @Test
    func `a copy that was interrupted goes on, and queries are right before its end`() async throws {
        for _ in 0..<5 where try await self.isInterruptedAndGoesOn() { return }
        Issue.record("the copy always ended before the store did")
    }

    /// Returns whether the store ended while the copy was under way.
    private func isInterruptedAndGoesOn() async throws -> Bool {
        var (it, other) = try await Self.opened(2_000, copyingAtOnce: 10)
        while try await other.count("index_entry") == 0 {}
        await it.store.shutdown()
        let isUnderWay = try await other.count("entry_copy") > 0
        it = try await it.reopened()
        let all = QueryRead(query: Query(recordType: "Note"), zone: notes, isCount: true)
        #expect(try await it.query(all).count == 2_000)
        try await Self.finished(other)
        #expect(try await it.query(all).count == 2_000)
        let contents = try await IndexContents(of: other)
        #expect(Set(contents.present) == contents.expected)
        #expect(contents.present.count == contents.expected.count)
        await it.store.shutdown()
        return isUnderWay
    }

    @Test
    func `keys are in the order of their numbers and values`() {
        let numbers: [Int64] = [0, 1, 239, 240, 241, 255, 256, 65_535, 65_536, 1 << 32, .max - 1]
        let values: [[UInt8]] = [[], [0], [0, 0], [1], [1, 0], [255], [255, 255]]
        var before: [UInt8]?
        for database in numbers {
            for zone in numbers {
                for index in numbers {
                    let zoneKey = ZoneKey(database: DatabaseID(rawValue: database), number: zone)
                    let key = EntryKey(index, in: zoneKey)
                    let range = EntryKey.range(of: zoneKey)
                    for value in values {
                        let next = key[value]
                        if let before { #expect(before.lexicographicallyPrecedes(next)) }
                        #expect(next.lexicographicallyPrecedes(key.end))
                        #expect(!next.lexicographicallyPrecedes(range.from))
                        #expect(next.lexicographicallyPrecedes(range.upTo))
                        before = next
                    }
                }
            }
        }
    }
}
