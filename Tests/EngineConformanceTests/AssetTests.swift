import RecordModel
import RecordStore
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance

/// Which assets a save may name, and what becomes of those that nobody names.
@Suite(.timeLimit(.minutes(10)))
struct AssetTests {
    private static let unavailable = StoreError.assetNotAvailable(field: "f")

    @Test(arguments: EngineKind.allCases)
    func `a save names what is complete, and nothing else`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let one = [save("a", ["f": .asset(file(1))])]
        #expect(try await it.modify(one)[0].error == Self.unavailable)
        let number = try #require(try await it.begin([file(1)])[0].number)
        #expect(try await it.modify(one)[0].error == Self.unavailable)
        try await it.complete(number)
        // The size is a part of the name.
        #expect(
            try await it.modify([save("a", ["f": .asset(file(1, size: 99))])])[0].error == Self.unavailable
        )
        #expect(try await it.modify(one)[0].isSaved)
        let list = [save("b", ["l": .assetList([file(1), file(2), file(1)])])]
        #expect(try await it.modify(list)[0].error == .assetNotAvailable(field: "l"))
        try await it.upload(file(2))
        #expect(try await it.modify(list)[0].isSaved)
        #expect(try await it.record(id("b"))?["l"] == .assetList([file(1), file(2), file(1)]))
        let schema = try it.store.schemas.schema(
            ofContainer: EngineUnderTest.container,
            environment: .development
        )
        let fields = try #require(schema["Note"]).fields.filter { !$0.isSystem }
        #expect(fields.map(\.typeAndIndexesText) == ["ASSET", "LIST<ASSET>"])
        #expect(try await it.wrongUses() == [])
    }

    @Test(arguments: EngineKind.allCases)
    func `an item that names what is not there fails alone, or with its zone`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let saves = [save("a", ["f": .asset(file(1))]), save("b")]
        let together = try await it.modify(saves)
        #expect(together.map(\.error) == [Self.unavailable, .atomicPeer(index: 0)])
        let request = it.newRequestID()
        let apart = try await it.modify(saves, isAtomic: false, id: request)
        #expect(apart[0].error == Self.unavailable)
        #expect(apart[1].isSaved)
        // What was said then is said again, though it is there by now.
        try await it.upload(file(1))
        #expect(try await it.modify(saves, isAtomic: false, id: request) == apart)
    }

    @Test(arguments: EngineKind.allCases)
    func `an asset of one database is none of another`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        try await it.upload(file(1))
        for requester in [it.bobPrivately, it.publicly] {
            let saves = [save("a", in: .default, ["f": .asset(file(1))])]
            #expect(try await it.modify(saves, by: requester)[0].error == Self.unavailable)
            #expect(try await it.begin([file(1)], by: requester)[0].number != nil)
        }
        #expect(try await it.begin([file(1)]) == [.complete])
    }

    @Test(arguments: EngineKind.allCases)
    func `in the public database everybody has to send what he names, and it is kept once`(
        kind: EngineKind
    ) async throws {
        let it = try EngineUnderTest(kind)
        let saves = [save("a", in: .default, ["f": .asset(file(1))])]
        let first = try await it.upload(file(1), by: it.publicly)
        #expect(try await it.begin([file(1)], by: it.publicly) == [.complete])
        #expect(try await it.modify(saves, by: it.publicly)[0].isSaved)
        let bobs = [save("b", in: .default, ["f": .asset(file(1))])]
        #expect(try await it.modify(bobs, by: it.bobPublicly)[0].error == Self.unavailable)
        let second = try await it.upload(file(1), by: it.bobPublicly)
        #expect(second != first)
        #expect(try await it.begin([file(1)], by: it.bobPublicly) == [.complete])
        #expect(try await it.modify(bobs, by: it.bobPublicly)[0].isSaved)
        // The bytes that came second go.
        #expect(try it.stored().map(\.number) == first)
        #expect(try await it.removals() == second)
        for requester in [it.publicly, it.anonymously] {
            let found = try await it.locate([file(1)], of: id("b", in: .default), by: requester)
            #expect(found == [StoredAsset(number: first[0], asset: file(1))])
        }
        #expect(try await it.wrongUses() == [])
        #expect(try await it.wrongCounters() == [])
    }

    @Test(arguments: EngineKind.allCases)
    func `a record keeps what it names, whoever saves it`(kind: EngineKind) async throws {
        let it = try EngineUnderTest(kind)
        let schema = """
            DEFINE SCHEMA RECORD TYPE Note (f ASSET, g ASSET, n INT64,
            GRANT READ, WRITE, CREATE TO "_icloud");
            """
        try it.store.schemas.apply(
            .replaceDevelopment(try SchemaParser.parse(schema)),
            inContainer: EngineUnderTest.container
        )
        try await it.upload(file(1), by: it.publicly)
        let made = try await it.modify([save("a", in: .default, ["f": .asset(file(1))])], by: it.publicly)
        let changes: [String: FieldValue] = ["n": .int64(1), "g": .asset(file(1)), "f": .clear]
        let changed = try await it.modify(
            [save("a", in: .default, tag: made[0].tag, changes)],
            by: it.bobPublicly
        )
        #expect(changed[0].isSaved)
        // Once no record names it, the user needs its bytes.
        _ = try await it.modify(
            [save("a", in: .default, tag: changed[0].tag, ["g": .clear])],
            by: it.bobPublicly
        )
        let again = [save("a", in: .default, ["f": .asset(file(1))])]
        #expect(
            try await it.modify(again, policy: .changedKeys, by: it.bobPublicly)[0].error == Self.unavailable
        )
    }

    @Test(arguments: EngineKind.allCases)
    func `a field of a user record may name an asset`(kind: EngineKind) async throws {
        let it = try EngineUnderTest(kind)
        try await it.upload(file(1))
        let saves = [save(EngineUnderTest.alice, in: .default, type: "Users", ["f": .asset(file(1))])]
        #expect(try await it.modify(saves, policy: .changedKeys)[0].isSaved)
        it.clock.advance(milliseconds: 2 * EngineUnderTest.graceMilliseconds)
        #expect(try await it.removals() == [])
    }

    @Test(arguments: EngineKind.allCases)
    func `what nobody names goes after the grace time, what somebody names stays`(
        kind: EngineKind
    ) async throws {
        var it = try await EngineUnderTest.withNotes(kind)
        let numbers = try await it.upload(file(1), file(2), file(3), file(4))
        let saved = try await it.modify([
            save("a", ["f": .asset(file(1)), "l": .assetList([file(2), file(3)])]),
            save("b", ["f": .asset(file(3))]),
        ])
        it.clock.advance(milliseconds: EngineUnderTest.graceMilliseconds - 1)
        #expect(try await it.removals() == [])
        it.clock.advance(milliseconds: 1)
        #expect(try await it.removals() == [numbers[3]])
        // It stays marked until its file is gone, and is nothing to anybody.
        it = try await it.reopened()
        #expect(try await it.removals() == [numbers[3]])
        #expect(try await it.modify([save("c", ["f": .asset(file(4))])])[0].error == Self.unavailable)
        let again = try #require(try await it.begin([file(4)])[0].number)
        #expect(again > numbers[3])
        try await it.removed([numbers[3]])
        #expect(try await it.removals() == [])
        // One record lets go of all it names, a merge of one; the other still has it.
        _ = try await it.modify([save("a", tag: saved[0].tag, ["f": .clear])])
        _ = try await it.modify([save("a", ["l": .emptyList])], policy: .changedKeys)
        it.clock.advance(milliseconds: EngineUnderTest.graceMilliseconds)
        #expect(try await it.removals() == [again, numbers[0], numbers[1]])
        _ = try await it.modify([], deletes: [id("b")])
        it.clock.advance(milliseconds: EngineUnderTest.graceMilliseconds)
        #expect(try await it.removals().last == numbers[2])
        #expect(try it.stored() == [])
        #expect(try await it.wrongCounters() == [])
    }

    @Test(arguments: EngineKind.allCases)
    func `a save within the grace time keeps an asset, and so does asking for it`(
        kind: EngineKind
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let numbers = try await it.upload(file(1), file(2))
        it.clock.advance(milliseconds: EngineUnderTest.graceMilliseconds - 1)
        #expect(try await it.modify([save("a", ["f": .asset(file(1))])])[0].isSaved)
        #expect(try await it.begin([file(2)]) == [.complete])
        it.clock.advance(milliseconds: EngineUnderTest.graceMilliseconds - 1)
        #expect(try await it.removals() == [])
        it.clock.advance(milliseconds: 1)
        #expect(try await it.removals() == [numbers[1]])
    }

    @Test(arguments: EngineKind.allCases)
    func `cascades, deleted zones and a reset let go of what their records named`(
        kind: EngineKind
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modifyZones(["other"])
        let other = ZoneID(zoneName: "other")
        let numbers = try await it.upload(file(1), file(2), file(3))
        _ = try await it.modify([
            save("a"), save("b", ["r": reference("a", .deleteSelf), "f": .asset(file(1))]),
            save("c", in: other, ["f": .asset(file(2))]), save("d", in: .default, ["f": .asset(file(3))]),
        ])
        _ = try await it.modify([], deletes: [id("a")])
        it.clock.advance(milliseconds: EngineUnderTest.graceMilliseconds)
        #expect(try await it.removals() == [numbers[0]])
        _ = try await it.modifyZones([], deletes: ["other"])
        try await it.swept()
        it.clock.advance(milliseconds: EngineUnderTest.graceMilliseconds)
        #expect(try await it.removals() == [numbers[0], numbers[1]])
        try it.store.schemas.apply(.resetDevelopment, inContainer: EngineUnderTest.container)
        try await it.swept()
        it.clock.advance(milliseconds: EngineUnderTest.graceMilliseconds)
        #expect(try await it.removals() == numbers)
        #expect(try await it.wrongUses() == [])
        #expect(try await it.wrongCounters() == [])
    }

    @Test(arguments: EngineKind.allCases)
    func `a refused zone lets go of nothing and names nothing`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let numbers = try await it.upload(file(1), file(2))
        _ = try await it.modify([save("a", ["f": .asset(file(1))])])
        let refused = try await it.modify(
            [save("a", ["f": .asset(file(2))]), save("b", parent: .set(recordName: "none"))],
            policy: .changedKeys
        )
        #expect(refused[0].error == .atomicPeer(index: 1))
        it.clock.advance(milliseconds: EngineUnderTest.graceMilliseconds)
        #expect(try await it.removals() == [numbers[1]])
        #expect(try await it.locate([file(1)], of: id("a")).map(\.number) == [numbers[0]])
        await #expect(throws: StoreError.assetNotNamed(index: 1)) {
            try await it.locate([file(1), file(2)], of: id("a"))
        }
    }
}
