import RecordModel
import RecordStore
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance

/// What becomes of tokens when rows of the file are taken back, or grow old.
@Suite(.timeLimit(.minutes(10)))
struct FeedRowTests {
    @Test
    func `a token of a future that a backup took back has expired`() async throws {
        var it = try await EngineUnderTest.withNotes(.sqlite)
        _ = try await it.modify([save("a"), save("b")])
        let token = try await it.token(of: notes)
        _ = try await it.modify([save("c")])
        let later = try await it.token(of: notes)
        let database = it.privately.database.rawValue
        it = try await it.reopened()
        #expect(try await it.all(after: token).items == ["c"])
        try await OtherProcess(folder: it.folder).execute(
            "UPDATE database SET position = position - 1 WHERE number = \(database)"
        )
        #expect(try await it.all(after: token).items == ["c"])
        await #expect(throws: StoreError.changeTokenExpired) { try await it.all(after: later) }
        try await OtherProcess(folder: it.folder).execute(
            "UPDATE database SET epoch = 1 WHERE number = \(database)"
        )
        await #expect(throws: StoreError.changeTokenExpired) { try await it.all(after: token) }
    }

    @Test
    func `tombstones go when they are older than they are kept, and tokens of before them expire`()
        async throws
    {
        let it = try await EngineUnderTest.withNotes(.sqlite) { $0.tombstoneRetentionSeconds = 7_200 }
        _ = try await it.modify((0..<300).map { save("r\($0)") })
        let old = try await it.token(of: notes)
        let oldDatabase = try await it.token(of: nil)
        _ = try await it.modify([], deletes: (0..<250).map { id("r\($0)") })
        _ = try await it.modifyZones(["gone"])
        _ = try await it.modifyZones([], deletes: ["gone"])
        let new = try await it.token(of: notes)
        _ = try await it.modify([], deletes: [id("r299")])
        let other = OtherProcess(folder: it.folder)
        // A pass an hour: this one is a millisecond too early for all.
        it.clock.advance(milliseconds: 7_200_000)
        _ = try await it.modify([save("x")])
        #expect(try await other.count("tombstone") == 251)
        #expect(try await it.all(after: old, limit: 1_000).items.count == 252)
        it.clock.advance(milliseconds: 3_600_000)
        while try await other.count("tombstone") + other.count("zone_tombstone") > 0 {}
        await #expect(throws: StoreError.changeTokenExpired) { try await it.all(after: old) }
        await #expect(throws: StoreError.changeTokenExpired) { try await it.all(after: new) }
        await #expect(throws: StoreError.changeTokenExpired) {
            try await it.databaseChanges(DatabaseFeedRead(token: oldDatabase))
        }
        let now = try await it.token(of: notes)
        _ = try await it.modify([], deletes: [id("r298")])
        #expect(try await it.all(after: now).items == ["-r298"])
        #expect(try await it.all().items.count == 49)
    }
}
