import RecordModel
import RecordStore
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance

/// Rows that earlier versions wrote, and that this one would not write.
@Suite(.timeLimit(.minutes(10)))
struct EarlierRowTests {
    private static func schema(_ it: EngineUnderTest) throws -> SchemaDocument {
        try it.store.schemas.schema(ofContainer: EngineUnderTest.container, environment: .development)
    }

    @Test
    func `a type that has more fields from before goes on, takes no more, and is not deployed`() async throws
    {
        var it = try await EngineUnderTest.withNotes(.sqlite)
        _ = try await it.modify([save("a", ["n": .int64(1)])])
        try await OtherProcess(folder: it.folder).execute(
            """
            WITH RECURSIVE number(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n < 1499)
            INSERT INTO field (record_type, name, type, is_encrypted, declared, indexes, index_number)
            SELECT record_type, 'f' || n, type, 0, 0, 0, NULL FROM number JOIN field WHERE name = 'n'
            """
        )
        it = try await it.reopened()
        #expect(try Self.schema(it)["Note"]?.fields.count { !$0.isSystem } == 1_501)
        #expect(try await it.modify([save("b", ["n": .int64(2), "f1499": .int64(2)])]).areSaved)
        #expect(try await it.record(id("b"))?["f1499"] == .int64(2))
        #expect(
            try await it.modify([save("c", ["new": .int64(2)])])[0].error
                == .tooManyFields(recordType: "Note")
        )
        #expect(throws: SchemaStoreError.beyondLimits([.fields(1_501, recordType: "Note")])) {
            try it.store.schemas.apply(.deploy, inContainer: EngineUnderTest.container)
        }
        // What development has it may keep, and have less of.
        var document = try Self.schema(it)
        try it.store.schemas.apply(.replaceDevelopment(document), inContainer: EngineUnderTest.container)
        let type = try #require(document.recordTypes.firstIndex { $0.name == "Note" })
        document.recordTypes[type].fields.append(FieldDeclaration(name: "g", type: .field(.int64)))
        #expect(throws: SchemaStoreError.beyondLimits([.fields(1_502, recordType: "Note")])) {
            try it.store.schemas.apply(.replaceDevelopment(document), inContainer: EngineUnderTest.container)
        }
    }

    @Test
    func `a bond with another's record from before stays when its record is saved again`() async throws {
        let it = try EngineUnderTest(.sqlite)
        let a = save("a", in: .default)
        let b = save("b", in: .default, ["r": reference("a", .validate)], parent: .set(recordName: "a"))
        #expect(try await it.modify([a, b], by: it.publicly).areSaved)
        // As if Bob had saved it when everybody could.
        try await OtherProcess(folder: it.folder).execute(
            """
            INSERT OR IGNORE INTO author (record_name) VALUES ('\(EngineUnderTest.bob)');
            """
        )
        try await OtherProcess(folder: it.folder).execute(
            """
            UPDATE record SET creator = (SELECT number FROM author WHERE record_name = '\(EngineUnderTest.bob)')
            WHERE name = 'b'
            """
        )
        #expect(try await it.modify([b], policy: .allKeys, by: it.bobPublicly).areSaved)
        let deleted = try await it.modify([], deletes: [id("a", in: .default)], by: it.publicly)
        #expect(deleted == [.failed(.referenceWouldDangle(referrer: "b"))])
        // Another kind of bond is a new one.
        let other = save("b", in: .default, ["r": reference("a", .deleteSelf)])
        #expect(
            try await it.modify([other], policy: .changedKeys, by: it.bobPublicly)
                == [.failed(.referenceNotPermitted(target: "a"))]
        )
    }
}
