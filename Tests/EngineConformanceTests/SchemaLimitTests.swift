import RecordModel
import RecordStore
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance

/// How many fields and record types a schema may have, however they come into it.
@Suite(.timeLimit(.minutes(10)))
struct SchemaLimitTests {
    private static let container = EngineUnderTest.container

    private func fields(_ range: Range<Int>) -> [String: FieldValue] {
        Dictionary(uniqueKeysWithValues: range.map { ("f\($0)", .int64(1)) })
    }

    private func schema(_ it: EngineUnderTest) throws -> SchemaDocument {
        try it.store.schemas.schema(ofContainer: Self.container, environment: .development)
    }

    @Test(arguments: EngineKind.allCases)
    func `a record type takes 1,000 fields from saves, and what it then has can be imported`(
        kind: EngineKind
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let full = StoreError.tooManyFields(recordType: "Note")
        #expect(try await it.modify([save("a", self.fields(0..<600))]).areSaved)
        // The saves of a request count together, and those that are refused do not hinder the others.
        let outcomes = try await it.modify(
            [
                save("b", self.fields(600..<900)), save("c", self.fields(800..<1_001)),
                save("d", self.fields(900..<1_000)), save("e", ["g": .int64(1)]),
                save("f", ["f999": .int64(2)]),
                save("g", type: "Other", ["g": .int64(1)]),
            ],
            isAtomic: false
        )
        #expect(outcomes.map(\.error) == [nil, full, nil, full, nil, nil])
        #expect(try await it.modify([save("h", ["h": .int64(1)])])[0].error == full)
        #expect(
            try await it.modify([save("h", in: .default, ["h": .int64(1)])], by: it.publicly)[0].error == full
        )
        #expect(try await it.record(id("c")) == nil)

        let document = try self.schema(it)
        #expect(document["Note"]?.fields.count { !$0.isSystem } == 1_000)
        #expect(try SchemaParser.parse(document.text) == document)
        try it.store.schemas.apply(.replaceDevelopment(document), inContainer: Self.container)
        try it.store.schemas.apply(.deploy, inContainer: Self.container)
        let reopened = try await it.reopened()
        #expect(try await reopened.modify([save("i", ["f7": .int64(7)])]).areSaved)
        #expect(try await reopened.modify([save("j", ["j": .int64(7)])])[0].error == full)
    }

    @Test(arguments: EngineKind.allCases)
    func `user records have as many fields, that of their roles included`(kind: EngineKind) async throws {
        let it = try EngineUnderTest(kind)
        let id = id(EngineUnderTest.alice, in: .default)
        func save(_ fields: [String: FieldValue]) async throws -> StoreError? {
            let save = EngineConformance.save(id.recordName, in: .default, type: "Users", fields)
            return try await it.modify([save], policy: .changedKeys, by: it.publicly)[0].error
        }
        #expect(try await save(self.fields(0..<999)) == nil)
        #expect(try await save(["g": .int64(1)]) == .tooManyFields(recordType: "Users"))
        #expect(try await save(["f3": .int64(2)]) == nil)
        let document = try self.schema(it)
        #expect(document["Users"]?.fields.count == 1_000)
        #expect(try SchemaParser.parse(document.text) == document)
    }

    @Test(arguments: EngineKind.allCases)
    func `a schema takes 1,000 record types, that of user records included`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        for start in stride(from: 0, to: 900, by: 300) {
            let saves = (start..<start + 300).map { save("r\($0)", type: "T\($0)") }
            #expect(try await it.modify(saves).areSaved)
        }
        let last = try await it.modify(
            (900..<1_001).map { save("r\($0)", type: "T\($0)") } + [
                save("again", type: "T998"), save("t", type: "T0"),
            ],
            isAtomic: false
        )
        #expect(last[..<99].map { $0 }.areSaved)
        #expect(last[99...].map(\.error) == [.tooManyRecordTypes, .tooManyRecordTypes, nil, nil])
        let document = try self.schema(it)
        #expect(document.recordTypes.count == 1_000)
        #expect(try SchemaParser.parse(document.text) == document)
        let reopened = try await it.reopened()
        #expect(try await reopened.modify([save("u", type: "Another")])[0].error == .tooManyRecordTypes)
        #expect(
            try await reopened.modify([save("u", in: .default, type: "Another")], by: it.bobPublicly)[0].error
                == .tooManyRecordTypes
        )
        // One that goes makes room.
        _ = try await reopened.modify([], deletes: [id("r5")])
        var without = document
        without.recordTypes.removeAll { $0.name == "T5" }
        try reopened.store.schemas.apply(.replaceDevelopment(without), inContainer: Self.container)
        #expect(try await reopened.modify([save("u", type: "Another")]).areSaved)
        without.recordTypes += [RecordTypeDefinition(name: "New1"), RecordTypeDefinition(name: "New2")]
        #expect(throws: SchemaStoreError.beyondLimits([.recordTypes(1_001)])) {
            try reopened.store.schemas.apply(.replaceDevelopment(without), inContainer: Self.container)
        }
    }
}
