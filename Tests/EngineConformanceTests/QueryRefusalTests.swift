import RecordModel
import RecordStore
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance

/// What a query may not ask, and whom it may not show what.
@Suite(.timeLimit(.minutes(10)))
struct QueryRefusalTests {
    @Test(arguments: EngineKind.allCases)
    func `a query of a zone that is not there is refused`(kind: EngineKind) async throws {
        let it = try await NumberedNotes.engine(1, kind)
        var read = QueryRead(query: Query(recordType: "Note"), zone: ZoneID(zoneName: "absent"))
        await #expect(throws: StoreError.zoneMissing) { try await it.query(read) }
        read.zone = ZoneID(zoneName: "notes", ownerName: EngineUnderTest.bob)
        await #expect(throws: StoreError.zoneMissing) { try await it.query(read) }
        read.zone = ZoneID(zoneName: "notes", ownerName: EngineUnderTest.alice)
        #expect(try await it.query(read).records.map(\.id.zone) == [read.zone])
    }

    @Test(arguments: EngineKind.allCases)
    func `what the schema does not permit is refused`(kind: EngineKind) async throws {
        let it = try await NumberedNotes.engine(1, kind)
        let refused: [(Query, StoreError)] = [
            (Query(recordType: "Absent"), .recordTypeUnknown("Absent")),
            (Query(recordType: "Users"), .systemTypeQuery),
            (
                Query(recordType: "Note", predicate: NumberedNotes.equals("absent", .int64(1))),
                .fieldUnknown(field: "absent")
            ),
            (
                Query(recordType: "Note", predicate: NumberedNotes.equals("title", .int64(1))),
                .operandTypeMismatch(field: "title", given: .int64, defined: .string)
            ),
            (Query(recordType: "Note", sort: [SortKey(field: "tags")]), .fieldNotSortable(field: "tags")),
        ]
        for (query, error) in refused {
            await #expect(throws: error) { try await it.query(QueryRead(query: query)) }
        }
    }

    @Test(arguments: EngineKind.allCases)
    func `bytes that are no position are refused, whatever they are`(kind: EngineKind) async throws {
        let it = try await NumberedNotes.engine(30, kind)
        var generator = SeededGenerator.fromEnvironment()
        print("SEED=\(generator.seed)")
        let queries = [
            Query(recordType: "Note"), Query(recordType: "Note", sort: [SortKey(field: "number")]),
            Query(recordType: "Note", predicate: NumberedNotes.equals("parity", .int64(1))),
        ]
        for query in queries {
            let whole = QueryRead(query: query, limit: 3)
            let position = try #require(try await it.query(whole).resume)
            for length in 0..<position.count {
                var read = whole
                read.resume = Array(position[..<length])
                await #expect(throws: StoreError.cursorInvalid) { try await it.query(read) }
            }
            for _ in 0..<300 {
                var read = whole
                var bytes = position
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                bytes[place] = UInt8.random(in: 0...255, using: &generator)
                read.resume = bytes
                // A changed position may still be one; it must not do harm.
                do {
                    _ = try await it.query(read)
                } catch {
                    #expect(error == .cursorInvalid || error == .cursorExpired)
                }
            }
        }
    }

    @Test(arguments: EngineKind.allCases)
    func `a position of another query is refused`(kind: EngineKind) async throws {
        let it = try await NumberedNotes.engine(30, kind)
        let one = Query(recordType: "Note", predicate: NumberedNotes.equals("parity", .int64(1)))
        let other = Query(recordType: "Note", predicate: NumberedNotes.equals("parity", .int64(0)))
        let position = try await it.query(QueryRead(query: one, limit: 3)).resume
        await #expect(throws: StoreError.cursorExpired) {
            try await it.query(QueryRead(query: other, resume: position, limit: 3))
        }
        let sorted = Query(recordType: "Note", sort: [SortKey(field: "number")])
        await #expect(throws: StoreError.self) {
            try await it.query(QueryRead(query: sorted, resume: position, limit: 3))
        }
    }

    @Test(arguments: EngineKind.allCases)
    func `a query finds what the roles of its user may read`(kind: EngineKind) async throws {
        let it = try EngineUnderTest(kind)
        let equals = NumberedNotes.equals("n", .int64(1))
        let read = QueryRead(query: Query(recordType: "Note", predicate: equals))
        let count = QueryRead(query: Query(recordType: "Note", predicate: equals), isCount: true)
        func grant(_ reading: String) throws {
            let text = """
                DEFINE SCHEMA RECORD TYPE Note (n INT64 QUERYABLE \(reading), GRANT CREATE TO "_icloud");
                """
            let document = try SchemaParser.parse(text)
            try it.store.schemas.apply(
                .replaceDevelopment(document),
                inContainer: EngineUnderTest.container
            )
        }
        try grant(", GRANT READ TO \"_world\"")
        _ = try await it.modify([save("hers", in: .default, ["n": .int64(1)])], by: it.publicly)
        _ = try await it.modify([save("his", in: .default, ["n": .int64(1)])], by: it.bobPublicly)
        #expect(NumberedNotes.names(try await it.query(read, by: it.anonymously)) == ["hers", "his"])
        #expect(try await it.query(count, by: it.anonymously).count == 2)
        try grant(", GRANT READ TO \"_creator\"")
        #expect(NumberedNotes.names(try await it.query(read, by: it.bobPublicly)) == ["his"])
        #expect(try await it.query(count, by: it.bobPublicly).count == 1)
        #expect(NumberedNotes.names(try await it.query(read, by: it.anonymously)) == [])
        #expect(try await it.query(count, by: it.anonymously).count == 0)
    }
}
