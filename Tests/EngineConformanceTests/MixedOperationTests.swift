import RecordModel
import RecordStore
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance

/// What CloudKit Web Services add to a request: policies of single items, saves that replace all fields,
/// and deletes that compare a tag.
@Suite(.timeLimit(.minutes(10)))
struct MixedOperationTests {
    private func modify(
        _ it: EngineUnderTest,
        _ saves: [RecordSave],
        deletes: [RecordID] = [],
        tags: [Int: String] = [:],
        isAtomic: Bool = false,
        id: RequestID? = nil
    ) async throws -> [WriteOutcome] {
        var operation = ModifyRecords(scope: .private, saves: saves, deletes: deletes, isAtomic: isAtomic)
        operation.deleteTags = tags
        return try await it.write(.modifyRecords(operation), id: id).get()
    }

    @Test(arguments: EngineKind.allCases)
    func `each item has a policy of its own`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([save("a", ["n": .int64(1)]), save("b", ["n": .int64(1)])])
        var forced = save("a", ["n": .int64(2)])
        forced.policy = .changedKeys
        var created = save("b", ["n": .int64(2)])
        created.policy = .ifServerRecordUnchanged
        var late = save("c", tag: "1", ["n": .int64(2)])
        late.policy = .changedKeys
        let outcomes = try await self.modify(it, [forced, created, late])
        #expect(outcomes.map(\.isSaved) == [true, false, true])
        #expect(try await it.record(id("a"))?["n"] == .int64(2))
        #expect(try await it.record(id("b"))?["n"] == .int64(1))
    }

    @Test(arguments: EngineKind.allCases)
    func `a save that replaces removes the fields that it lacks`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let saved = try await it.modify([
            save("a", ["n": .int64(1), "title": .string("x"), "texts": .stringList(["y"])])
        ])
        var replacing = save("a", tag: saved[0].tag, ["title": .string("z")])
        replacing.replacesFields = true
        #expect(try await self.modify(it, [replacing])[0].isSaved)
        let record = try #require(try await it.record(id("a")))
        #expect(record.body.fields == [Field(name: "title", value: .string("z"))])
        // The tag of a save that replaces counts as that of any.
        let stale = try await self.modify(it, [replacing])
        #expect(stale == [.failed(.changeTagStale(record))])
        var empty = save("a")
        empty.policy = .changedKeys
        empty.replacesFields = true
        #expect(try await self.modify(it, [empty])[0].isSaved)
        #expect(try await it.record(id("a"))?.body.isEmpty == true)
        var new = save("new", ["n": .int64(1)])
        new.policy = .changedKeys
        new.replacesFields = true
        #expect(try await self.modify(it, [new])[0].isSaved)
    }

    @Test(arguments: EngineKind.allCases)
    func `a delete that compares a tag fails without it, and takes no record along`(
        kind: EngineKind
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let saved = try await it.modify([save("a", ["n": .int64(1)])])
        _ = try await it.modify([save("child", ["r": reference("a", .deleteSelf)])])
        let record = try #require(try await it.record(id("a")))
        let request = it.newRequestID()
        let kept = save("other")
        for _ in 0..<2 {
            let outcomes = try await self.modify(
                it,
                [kept],
                deletes: [id("a"), id("none")],
                tags: [0: "1", 1: "1"],
                id: request
            )
            #expect(outcomes.dropFirst() == [.failed(.changeTagStale(record)), .failed(.recordMissing)])
        }
        #expect(it.store.statistics.requestsReplayed == 1)
        #expect(try await it.record(id("child")) != nil)
        let tag = try #require(saved[0].tag)
        let deleted = try await self.modify(it, [], deletes: [id("a")], tags: [0: tag])
        #expect(deleted == [.deleted])
        #expect(try await it.record(id("child")) == nil)
    }

    @Test(arguments: EngineKind.allCases)
    func `a delete with a stale tag fails its peers in an atomic zone`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([save("a")])
        let record = try #require(try await it.record(id("a")))
        let outcomes = try await self.modify(
            it,
            [save("b")],
            deletes: [id("a")],
            tags: [0: "zz"],
            isAtomic: true
        )
        #expect(outcomes == [.failed(.atomicPeer(index: 1)), .failed(.changeTagStale(record))])
        #expect(try await it.record(id("b")) == nil)
    }
}
