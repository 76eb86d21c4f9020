import RecordModel
import RecordStore
import TestSupport
import Testing

/// Record types without a name: none is declared, and those that earlier versions declared get one.
@Suite(.timeLimit(.minutes(5)))
struct NamelessTypeTests {
    @Test(arguments: EngineKind.allCases)
    func `a save without a record type is refused wherever it is, and declares nothing`(
        kind: EngineKind
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([save("list")])
        let share = try await it.share("list") {
            $0.participants = [participant(EngineUnderTest.bob, .readWrite)]
        }
        try await it.join(share, by: it.bobShared)
        let refused = StoreError.nameInvalid(.recordType)
        for (zone, requester) in [
            (notes, it.privately), (.default, it.privately), (.default, it.publicly),
            (aliceNotes, it.bobShared),
        ] {
            let nameless = save(
                "x",
                in: zone,
                type: "",
                parent: zone == aliceNotes ? .set(recordName: "list") : .unchanged
            )
            let first = try await it.modify([nameless], by: requester)
            #expect(first.map(\.error) == [refused], "\(zone) \(requester.scope)")
            let named = save("y\(requester.scope)", in: zone, parent: nameless.parent)
            let second = try await it.modify([named, nameless], isAtomic: false, by: requester)
            #expect(second.map(\.error) == [nil, refused], "\(zone) \(requester.scope)")
        }
        let schema = try it.store.schemas.schema(
            ofContainer: EngineUnderTest.container,
            environment: .development
        )
        #expect(schema.recordTypes.map(\.name) == ["Note", "Users"])
    }

    @Test
    func `a type without a name gets one at the next start, and is exported, saved and removed like others`()
        async throws
    {
        var it = try await EngineUnderTest.withNotes(.sqlite)
        _ = try await it.modify([save("a", type: "Lost", ["n": .int64(1)])])
        _ = try await it.modify([save("b", in: .default, type: "Lost", ["n": .int64(2)])], by: it.publicly)
        try await OtherProcess(folder: it.folder).execute(
            "UPDATE record_type SET name = '' WHERE name = 'Lost'"
        )
        it = try await it.reopened()
        let schema = try it.store.schemas.schema(
            ofContainer: EngineUnderTest.container,
            environment: .development
        )
        #expect(schema.recordTypes.map(\.name) == ["TypeWithoutName", "Users"])
        #expect(try SchemaParser.parse(schema.text) == schema)
        let record = try #require(try await it.record(id("a")))
        #expect(record.recordType == "TypeWithoutName")
        let query = QueryRead(query: Query(recordType: "TypeWithoutName", predicate: .all))
        #expect(try await it.query(query, by: it.publicly).records.map(\.id.recordName) == ["b"])
        let change = save("a", type: "TypeWithoutName", tag: record.changeTag, ["n": .int64(3)])
        #expect(try await it.modify([change]).areSaved)
        // It goes as other types do: when no record has it.
        let without = SchemaDocument(recordTypes: [])
        #expect(throws: SchemaStoreError.inUse([.recordType("TypeWithoutName")])) {
            try it.store.schemas.apply(.replaceDevelopment(without), inContainer: EngineUnderTest.container)
        }
        _ = try await it.modify([], deletes: [id("a")])
        _ = try await it.modify([], deletes: [id("b", in: .default)], by: it.publicly)
        try it.store.schemas.apply(.replaceDevelopment(without), inContainer: EngineUnderTest.container)
    }

    @Test
    func `where another type has that name, the type without one gets a number as well`() async throws {
        var it = try await EngineUnderTest.withNotes(.sqlite)
        _ = try await it.modify([save("a", type: "Lost"), save("b", type: "TypeWithoutName")])
        try await OtherProcess(folder: it.folder).execute(
            "UPDATE record_type SET name = '' WHERE name = 'Lost'"
        )
        it = try await it.reopened()
        let type = try #require(try await it.record(id("a"))?.recordType)
        #expect(type.hasPrefix("TypeWithoutName_"))
        #expect(try await it.record(id("b"))?.recordType == "TypeWithoutName")
        #expect(try await it.modify([save("c", type: type)]).areSaved)
    }
}
