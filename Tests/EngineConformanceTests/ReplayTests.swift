import RecordModel
import RecordStore
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance

/// A request ID is one execution (`Protocol/README.md`, section 4.4).
@Suite(.timeLimit(.minutes(10)))
struct ReplayTests {
    @Test(arguments: EngineKind.allCases)
    func `a replay executes nothing and returns the first outcome`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([save("old", ["n": .int64(1)])])
        let request = it.newRequestID()
        let saves = [save("a", ["n": .int64(1)]), save("old", ["n": .int64(2)])]
        let first = try await it.modify(saves, deletes: [id("x")], policy: .changedKeys, id: request)
        it.clock.advance(milliseconds: 1_000)
        let replay = try await it.modify(saves, deletes: [id("x")], policy: .changedKeys, id: request)
        #expect(replay == first)
        #expect(try await it.record(id("a"))?.changeTag == first[0].tag)
        #expect(it.store.statistics.requestsReplayed == 1)
        let reopened = try await it.reopened()
        let late = try await reopened.modify(saves, deletes: [id("x")], policy: .changedKeys, id: request)
        #expect(late == first)
    }

    @Test(arguments: EngineKind.allCases)
    func `failures are replayed, a conflict with the record as it is by then`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([save("a", ["n": .int64(1)])])
        let request = it.newRequestID()
        let saves = [
            save("a", ["n": .int64(2)]), save("b"), save("c", ["n": .string("")]), save("d", tag: "1"),
            save("e", ["r": reference("none", .validate)]), save("_f"),
        ]
        let first = try await it.modify(saves, isAtomic: false, id: request)
        #expect(first.map(\.isSaved) == [false, true, false, false, false, false])
        _ = try await it.modify([save("a", ["n": .int64(3)])], policy: .changedKeys)
        let replay = try await it.modify(saves, isAtomic: false, id: request)
        #expect(replay.dropFirst() == first.dropFirst())
        let current = try #require(try await it.record(id("a")))
        #expect(replay[0] == .failed(.recordExists(current)))
    }

    @Test(arguments: EngineKind.allCases)
    func `a request without effect is judged anew`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let request = it.newRequestID()
        let saves = [save("a", ["r": reference("b", .validate)])]
        #expect(try await it.modify(saves, id: request)[0].error != nil)
        _ = try await it.modify([save("b")])
        #expect(try await it.modify(saves, id: request)[0].isSaved)
    }

    @Test(arguments: EngineKind.allCases)
    func `zones are replayed as well`(kind: EngineKind) async throws {
        let it = try EngineUnderTest(kind)
        let request = it.newRequestID()
        let first = try await it.modifyZones(["a", "b"], deletes: ["c"], id: request)
        #expect(first[2] == .deleted)
        _ = try await it.modifyZones([], deletes: ["a"])
        #expect(try await it.modifyZones(["a", "b"], deletes: ["c"], id: request) == first)
        #expect(try await it.zones().count == 2)
    }

    @Test(arguments: EngineKind.allCases)
    func `another operation under an ID that was used has the first outcome, and is not executed`(
        kind: EngineKind
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([save("old")])
        let request = it.newRequestID()
        let saves = [save("a"), save("b"), save("old")]
        let first = try await it.modify(saves, isAtomic: false, id: request)
        #expect(first.map(\.isSaved) == [true, true, false])
        let zones = try await it.zones()
        let second = try await it.modifyZones(["other"], deletes: ["Notes"], id: request)
        #expect(second.count == 3)
        #expect(second.prefix(2) == first.prefix(2))
        #expect(second[2].error != nil)
        #expect(try await it.zones() == zones)
        let third = try await it.modify([save("c")], id: request)
        #expect(third.count == 3)
        #expect(try await it.record(id("c")) == nil)
    }

    @Test(arguments: EngineKind.allCases)
    func `the same ID in another database is another request`(kind: EngineKind) async throws {
        let it = try EngineUnderTest(kind)
        let request = it.newRequestID()
        #expect(try await it.modify([save("a", in: .default)], id: request)[0].isSaved)
        let bob = try await it.modify([save("b", in: .default)], by: it.bobPrivately, id: request)
        #expect(bob[0].isSaved)
        #expect(try await it.record(id("b", in: .default), by: it.bobPrivately) != nil)
    }

    @Test(arguments: EngineKind.allCases)
    func `an ID is accepted until the retention time is over, and no later`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let retention: Int64 = 3_600_000
        let oldest = it.newRequestID(millisecondsAgo: retention)
        #expect(try await it.modify([save("a")], id: oldest)[0].isSaved)
        let older = it.newRequestID(millisecondsAgo: retention + 1)
        await #expect(throws: StoreError.requestIDExpired) { try await it.modify([save("b")], id: older) }
        let ahead = it.newRequestID(millisecondsAgo: -86_400_000)
        #expect(try await it.modify([save("c")], id: ahead)[0].isSaved)
        let farAhead = it.newRequestID(millisecondsAgo: -86_400_001)
        await #expect(throws: StoreError.requestIDAhead) { try await it.modify([save("d")], id: farAhead) }
        await #expect(throws: StoreError.requestIDMissing) {
            try await it.modify([save("d")], id: RequestID(high: 0, low: 0))
        }
        it.clock.advance(milliseconds: 1)
        await #expect(throws: StoreError.requestIDExpired) { try await it.modify([save("a")], id: oldest) }
    }
}
