import RecordModel
import RecordStore
import SQLiteEngine
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance

/// What the writer does besides requests, and what it makes of changes that it did not make.
@Suite(.timeLimit(.minutes(10)))
struct HousekeepingTests {
    @Test
    func `the rows of a deleted zone go in pieces, and all of them go`() async throws {
        let it = try await EngineUnderTest.withNotes(.sqlite)
        let other = OtherProcess(folder: it.folder)
        let users = try await other.count("record")
        let changes = try await other.count("change")
        for first in stride(from: 0, to: 500, by: 250) {
            _ = try await it.modify((first..<first + 250).map { save("r\($0)") })
        }
        _ = try await it.modify([save("h", ["r": reference("r0", .validate)])])
        _ = try await it.modify([], deletes: [id("r1")])
        #expect(try await other.count("record") == users + 500)
        let gate = Self.deleteZone(it)
        #expect(try await other.count("record") == users + 300)
        gate.open()
        while try await other.count("sweep") > 0 {}
        #expect(try await other.count("record") == users)
        #expect(try await other.count("tombstone") == 0)
        #expect(try await other.count("hold") == 0)
        #expect(try await other.count("change") == changes)
        #expect(try await other.count("zone_tombstone") == 1)
    }

    @Test
    func `a piece of large records ends with the one with which it has many bytes`() async throws {
        let it = try await EngineUnderTest.withNotes(.sqlite)
        let other = OtherProcess(folder: it.folder)
        let users = try await other.count("record")
        let bytes = FieldValue.bytes([UInt8](repeating: 7, count: 1_000_000))
        for number in 0..<20 { _ = try await it.modify([save("r\(number)", ["b": bytes])]) }
        let gate = Self.deleteZone(it)
        // The ninth begins within the first 8 MiB.
        #expect(try await other.count("record") == users + 11)
        gate.open()
        while try await other.count("sweep") > 0 {}
        #expect(try await other.count("record") == users)
    }

    /// Deletes the zone of most tests.
    ///
    /// The reply holds the writer until the gate is open: what is gone by then went with the delete
    /// itself.
    private static func deleteZone(_ it: EngineUnderTest) -> Gate {
        let (gate, held) = (Gate(), Gate())
        let deletion = ModifyZones(scope: .private, saves: [], deletes: [notes])
        it.store.write(it.request(.modifyZones(deletion))) { _ in
            held.open()
            gate.wait()
        }
        held.wait()
        return gate
    }

    @Test
    func `outcomes of requests are forgotten when their IDs have expired, not before`() async throws {
        let it = try EngineUnderTest(.sqlite)
        let other = OtherProcess(folder: it.folder)
        for number in 0..<300 { _ = try await it.modify([save("a\(number)", in: .default)]) }
        it.clock.advance(milliseconds: 3_600_000)
        for number in 0..<600 { _ = try await it.modify([save("b\(number)", in: .default)]) }
        #expect(try await other.count("request") == 900)
        it.clock.advance(milliseconds: 1)
        for number in 0..<600 { _ = try await it.modify([save("c\(number)", in: .default)]) }
        #expect(try await other.count("request") == 1_200)
    }

    @Test
    func `the URLs of a thousand shares go with their roots, and those for one person with the share`()
        async throws
    {
        var it = try await EngineUnderTest.withNotes(.sqlite)
        let other = OtherProcess(folder: it.folder)
        for first in stride(from: 0, to: 1_000, by: 200) {
            let saves = (first..<first + 200).flatMap { number in
                var changes = ShareChanges(root: "r\(number)")
                changes.participants = [ShareParticipant(id: "once", identity: UserIdentity())]
                return [save("r\(number)"), saveOfShare("s\(number)", changes)]
            }
            #expect(try await it.modify(saves).areSaved)
        }
        #expect(try await other.count("share_token") == 2_000)
        func delete(_ names: [String]) async throws {
            for first in stride(from: 0, to: names.count, by: 400) {
                let ids = names[first..<min(first + 400, names.count)].map { id($0) }
                let outcomes = try await it.modify([], deletes: ids)
                #expect(outcomes.allSatisfy { $0 == .deleted })
            }
        }
        try await delete((0..<500).map { "s\($0)" })
        #expect(try await other.count("share_token") == 1_500)
        // The writer has to find out again that there are any.
        it = try await it.reopened()
        try await delete((0..<1_000).map { "r\($0)" })
        #expect(try await other.count("share_token") == 0)
    }

    @Test
    func `what came under shares and left them is forgotten with the deletions of its time`() async throws {
        let it = try await EngineUnderTest.withNotes(.sqlite) { $0.tombstoneRetentionSeconds = 7_200 }
        let other = OtherProcess(folder: it.folder)
        _ = try await it.modify([save("list"), save("a"), save("b"), save("gone")])
        let share = try await it.share("list")
        try await it.join(share, by: it.bobShared)
        let start = try await it.all(of: aliceNotes, by: it.bobShared).token
        func move(_ name: String, _ parent: RecordSave.ParentChange) async throws {
            #expect(try await it.modify([save(name, parent: parent)], policy: .changedKeys).areSaved)
        }
        try await move("a", .set(recordName: "list"))
        try await move("b", .set(recordName: "list"))
        try await move("a", .removed)
        _ = try await it.modify([], deletes: [id("gone")])
        it.clock.advance(milliseconds: 7_000_000)
        try await move("b", .removed)
        _ = try await it.modify([], deletes: [id("a")])
        let young = try await it.all(of: aliceNotes, by: it.bobShared).token
        try await move("b", .set(recordName: "list"))
        // An arrival is told by the change of the record that moves.
        #expect(try await other.count("cover_change") == 2)
        it.clock.advance(milliseconds: 3_700_000)
        // An hour has passed since the last look; what follows takes some along, and the rest goes alone.
        try await move("b", .set(recordName: "list"))
        while try await other.count("cover_change") == 2 {}
        #expect(try await other.count("cover_change") == 1)
        await #expect(throws: StoreError.changeTokenExpired) {
            try await it.all(after: start, of: aliceNotes, by: it.bobShared)
        }
        #expect(try await it.all(after: young, of: aliceNotes, by: it.bobShared).items == ["b"])
    }
}
