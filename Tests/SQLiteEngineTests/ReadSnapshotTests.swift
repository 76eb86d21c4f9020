import RecordModel
import RecordStore
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance

/// A connection that reads remembers where zones are, until something is committed.
@Suite(.timeLimit(.minutes(10)))
struct ReadSnapshotTests {
    /// With a record, which a connection has found twice.
    private static func scene() async throws -> EngineUnderTest {
        let it = try await EngineUnderTest.withNotes(.sqlite)
        _ = try await it.modify([save("a")])
        #expect(try await self.hasRecord(it))
        #expect(try await self.hasRecord(it))
        return it
    }

    private static func hasRecord(_ it: EngineUnderTest) async throws -> Bool {
        let outcome = try await it.fetch([RecordID(zone: notes, recordName: "a")])[0]
        guard case .record = outcome else {
            #expect([.failed(.missing(notes)), .failed(.missing(recordNamed: "a"))].contains(outcome))
            return false
        }
        return true
    }

    @Test
    func `a zone that was deleted is not found again, and a new one of its name is`() async throws {
        let it = try await Self.scene()
        _ = try await it.modifyZones([], deletes: ["notes"])
        #expect(try await !Self.hasRecord(it))
        _ = try await it.modifyZones(["notes"])
        #expect(try await !Self.hasRecord(it))
        _ = try await it.modify([save("a")])
        #expect(try await Self.hasRecord(it))
    }

    @Test
    func `a zone that another process takes away is not found from then on`() async throws {
        let it = try await Self.scene()
        let other = OtherProcess(folder: it.folder)
        try await other.execute("UPDATE zone SET name = 'moved' WHERE name = 'notes'")
        #expect(try await !Self.hasRecord(it))
        try await other.execute("UPDATE zone SET name = 'notes' WHERE name = 'moved'")
        #expect(try await Self.hasRecord(it))
    }

    /// A count that takes too many of SQLite's operations is interrupted, and asked in another way.
    @Test
    func `a count that is interrupted does not end the snapshot`() async throws {
        let it = try await EngineUnderTest.withNotes(.sqlite)
        _ = try await it.modify((0..<200).map { save("r\($0)", ["n": .int64(1)]) })
        let field = try await OtherProcess(folder: it.folder).execute(
            "SELECT field FROM entries GROUP BY field HAVING count(*) = 200 LIMIT 1"
        )
        let index = try #require(field.first.flatMap { Int64($0) })
        let counts = try await it.snapshot { (snapshot) throws(StorageFailure) -> [Int] in
            guard let zone = try snapshot.zone(named: "notes", in: it.privately.database) else { return [] }
            func count(limit: Int) throws(StorageFailure) -> Int {
                try snapshot.countOfEntries(EntryScan(.all, of: index, in: zone, limit: limit))
            }
            let before = try count(limit: 1_000)
            let interrupted = try count(limit: 1)
            commitMeanwhile([save("new", ["n": .int64(1)])], in: it)
            return [before, interrupted, try count(limit: 1_000)]
        }
        #expect(counts == [200, 1, 200])
    }
}
