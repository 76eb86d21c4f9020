import RecordModel
import RecordStore
import StorageContract
import Testing

@testable import EngineConformance

/// What one failure does to its neighbours.
@Suite(.timeLimit(.minutes(10)))
struct BatchTests {
    @Test(arguments: EngineKind.allCases)
    func `one failure fails all items of an atomic zone and nothing is written`(kind: EngineKind) async throws
    {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([save("old", ["n": .int64(1)])])
        let outcomes = try await it.modify(
            [save("a"), save("b", tag: "1"), save("c", type: "0")],
            deletes: [id("old")]
        )
        #expect(outcomes[0] == .failed(.atomicPeer(index: 1)))
        #expect(outcomes[1] == .failed(.recordMissing))
        #expect(outcomes[2] == .failed(.nameInvalid(.recordType)))
        #expect(outcomes[3] == .failed(.atomicPeer(index: 1)))
        #expect(try await it.record(id("a")) == nil)
        #expect(try await it.record(id("old")) != nil)
    }

    @Test(arguments: EngineKind.allCases)
    func `without the flag, and in the default zone, items stand alone`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        for (zone, isAtomic) in [(notes, false), (ZoneID.default, true)] {
            let saves = [save("a", in: zone), save("b", in: zone, tag: "1"), save("c", in: zone)]
            let outcomes = try await it.modify(saves, isAtomic: isAtomic)
            #expect(outcomes.map(\.isSaved) == [true, false, true])
            #expect(try await it.record(id("c", in: zone)) != nil)
        }
    }

    @Test(arguments: EngineKind.allCases)
    func `zones of one request are judged by themselves`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modifyZones(["other"])
        let other = ZoneID(zoneName: "other")
        let outcomes = try await it.modify([
            save("a"), save("a", in: other), save("b", tag: "1"), save("b", in: other),
        ])
        #expect(outcomes.map(\.isSaved) == [false, true, false, true])
        #expect(outcomes[0] == .failed(.atomicPeer(index: 2)))
    }

    @Test(arguments: EngineKind.allCases)
    func `a record that is named twice refuses the request`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        await #expect(throws: StoreError.duplicateItem) { try await it.modify([save("a"), save("a")]) }
        await #expect(throws: StoreError.duplicateItem) {
            try await it.modify([], deletes: [id("a"), id("a")])
        }
        await #expect(throws: StoreError.savedAndDeleted) {
            try await it.modify([save("a")], deletes: [id("a")])
        }
        // With and without the name of its owner a zone is the same.
        let owned = ZoneID(zoneName: "notes", ownerName: EngineUnderTest.alice)
        await #expect(throws: StoreError.duplicateItem) {
            try await it.modify([save("a"), save("a", in: owned)])
        }
        #expect(try await it.record(id("a")) == nil)
        #expect(try await it.modify([save("a"), save("a", in: .default)]).areSaved)
    }

    @Test(arguments: EngineKind.allCases)
    func `a request has as many items as the limit and not one more`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let saves = (0..<399).map { save("r\($0)") }
        #expect(try await it.modify(saves, deletes: [id("x")]).count == 400)
        await #expect(throws: StoreError.tooManyItems(401)) {
            try await it.modify(saves, deletes: [id("x"), id("y")])
        }
        let found = try await it.fetch(saves.map(\.id))
        #expect(found.allSatisfy { if case .record = $0 { true } else { false } })
    }

    @Test(arguments: EngineKind.allCases)
    func `requests of one transaction that change the same records build on each other`(
        kind: EngineKind
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        // Bytes have no index, so that nothing but records is written.
        let bytes = FieldValue.bytes([1])
        let all = Dictionary(uniqueKeysWithValues: (0..<12).map { ("f\($0)", bytes) })
        #expect(try await it.modify([save("old"), save("other"), save("defines fields", all)]).areSaved)
        // The records come alone and together, new and old, and one of them goes in between.
        var requests = (0..<12).map { number in
            let fields = ["f\(number)": bytes]
            let names = [["old"], ["new"], ["old", "new", "other"], ["other", "old"]][number % 4]
            let saves = names.map { save($0, fields) }
            return it.request(
                .modifyRecords(ModifyRecords(scope: .private, saves: saves, policy: .changedKeys))
            )
        }
        requests.insert(
            it.request(.modifyRecords(ModifyRecords(scope: .private, saves: [], deletes: [id("other")]))),
            at: 5
        )
        for result in await it.together(requests) {
            #expect(try result.get().allSatisfy { $0.error == nil })
        }
        func fields(_ name: String) async throws -> [String]? {
            try await it.record(id(name))?.body.fields.map(\.name).sorted()
        }
        #expect(try await fields("old") == [0, 2, 3, 4, 6, 7, 8, 10, 11].map { "f\($0)" }.sorted())
        #expect(try await fields("new") == [1, 2, 5, 6, 9, 10].map { "f\($0)" }.sorted())
        #expect(try await fields("other") == [6, 7, 10, 11].map { "f\($0)" }.sorted())
        #expect(try await it.isOrderWhole())
        #expect(try await it.wrongCounters() == [])
    }

    @Test(arguments: EngineKind.allCases)
    func `saves are judged before deletes`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([save("target"), save("holder", ["r": reference("target", .validate)])])
        let record = try #require(try await it.record(id("holder")))
        let outcomes = try await it.modify(
            [save("holder", tag: record.changeTag, ["r": .clear])],
            deletes: [id("target")]
        )
        #expect(outcomes[0].isSaved)
        #expect(outcomes[1] == .deleted)
    }
}
