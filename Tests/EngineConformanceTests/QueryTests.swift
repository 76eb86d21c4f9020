import RecordModel
import RecordStore
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance

/// Queries through an engine: what is found, in which order, in which pages, and at what cost.
@Suite(.timeLimit(.minutes(10)))
struct QueryTests {
    @Test(arguments: EngineKind.allCases)
    func `an acknowledged save is found at once, and what it replaced is not`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([save("n", ["title": .string("old")])])
        let old = QueryRead(
            query: Query(recordType: "Note", predicate: NumberedNotes.equals("title", .string("old")))
        )
        let new = QueryRead(
            query: Query(recordType: "Note", predicate: NumberedNotes.equals("title", .string("new")))
        )
        #expect(NumberedNotes.names(try await it.query(old)) == ["n"])
        _ = try await it.modify([save("n", ["title": .string("new")])], policy: .changedKeys)
        #expect(NumberedNotes.names(try await it.query(old)) == [])
        #expect(NumberedNotes.names(try await it.query(new)) == ["n"])
        _ = try await it.modify([], deletes: [id("n")])
        #expect(NumberedNotes.names(try await it.query(new)) == [])
    }

    @Test(arguments: EngineKind.allCases)
    func `a page of exactly the limit has no cursor when nothing is left`(kind: EngineKind) async throws {
        let it = try await NumberedNotes.engine(5, kind)
        for sort in [
            [], [SortKey(field: "___createTime")], [SortKey(field: "___recordID", isAscending: false)],
        ] {
            let query = Query(recordType: "Note", sort: sort)
            #expect(try await it.query(QueryRead(query: query, limit: 5)).resume == nil)
            #expect(try await it.query(QueryRead(query: query, limit: 6)).resume == nil)
            let page = try await it.query(QueryRead(query: query, limit: 4))
            #expect(page.records.count == 4)
            #expect(page.resume != nil)
        }
    }

    @Test(arguments: EngineKind.allCases)
    func `an equality reads what it returns`(kind: EngineKind) async throws {
        let it = try await NumberedNotes.engine(400, kind)
        let query = Query(recordType: "Note", predicate: NumberedNotes.number(.equals, 77))
        let answer = try await it.query(QueryRead(query: query, zone: notes))
        #expect(NumberedNotes.names(answer) == ["n1077"])
        #expect(answer.recordsRead == 1)
        #expect(answer.entriesRead == 1)
    }

    @Test(arguments: EngineKind.allCases)
    func `a page in the order of an index reads as many records as it returns`(kind: EngineKind) async throws
    {
        let it = try await NumberedNotes.engine(400, kind)
        let query = Query(recordType: "Note", sort: [SortKey(field: "number", isAscending: false)])
        var read = QueryRead(query: query, limit: 10)
        for page in 0..<3 {
            let answer = try await it.query(read)
            #expect(NumberedNotes.names(answer) == (0..<10).map { "n\(1_399 - page * 10 - $0)" })
            #expect(answer.recordsRead <= 11)
            read.resume = answer.resume
        }
    }

    @Test(arguments: EngineKind.allCases)
    func `several conditions are met by leaping from one index to the other`(kind: EngineKind) async throws {
        let it = try await NumberedNotes.engine(600, kind)
        let query = Query(
            recordType: "Note",
            predicate: .and([
                NumberedNotes.equals("parity", .int64(1)),
                .comparison(Comparison(field: "tags", comparator: .listContains, operand: .string("b2"))),
            ])
        )
        let answer = try await it.query(QueryRead(query: query))
        #expect(answer.records.count == 100)
        #expect(answer.recordsRead == 100)
        #expect(answer.plan.filter == .all)
    }

    @Test(arguments: EngineKind.allCases, [40, 41, 45, 53])
    func `an intersection goes on where the budget ended`(kind: EngineKind, readsMax: Int) async throws {
        let it = try await NumberedNotes.engine(600, kind) { $0.queryBudget.readsMax = readsMax }
        let query = Query(
            recordType: "Note",
            predicate: .and([
                NumberedNotes.equals("parity", .int64(1)),
                .comparison(Comparison(field: "tags", comparator: .listContains, operand: .string("b2"))),
            ])
        )
        var read = QueryRead(query: query, zone: notes)
        var found: [String] = []
        repeat {
            let answer = try await it.query(read)
            found += NumberedNotes.names(answer)
            read.resume = answer.resume
        } while read.resume != nil
        #expect(found == (0..<600).filter { $0 % 6 == 5 }.map { "n\(1_000 + $0)" })
        read.isCount = true
        var count: Int64 = 0
        repeat {
            let answer = try await it.query(read)
            count += answer.count
            read.resume = answer.resume
        } while read.resume != nil
        #expect(count == 100)
    }

    /// Everything that a query finds, page by page; fails when there are more pages than records could need.
    private static func found(_ it: EngineUnderTest, _ read: QueryRead) async throws -> [String] {
        var read = read
        var found: [String] = []
        var pages = 0
        repeat {
            let answer = try await it.query(read)
            found += answer.records.map(\.id.recordName)
            read.resume = answer.resume
            pages += 1
            try #require(pages <= 1_000)
        } while read.resume != nil
        return found
    }

    @Test(arguments: EngineKind.allCases, [1, 16, 143, 144, 145])
    func `a page gets ahead when its budget is less than a piece of every list`(
        kind: EngineKind,
        readsMax: Int
    ) async throws {
        let it = try await NumberedNotes.engine(200, kind) { $0.queryBudget.readsMax = readsMax }
        // Nine lists, of which several are longer than a piece; all alternatives, all together.
        let ranks = (0..<9).map { FieldValue.double(Double($0)) }
        let parts = ranks.map { NumberedNotes.equals("rank", $0) }
        let members = ["a", "b1", "c"].map {
            RecordModel.Predicate.comparison(
                Comparison(field: "tags", comparator: .listContains, operand: .string($0))
            )
        }
        let any = Query(recordType: "Note", predicate: .or(parts))
        #expect(
            try await Self.found(it, QueryRead(query: any, zone: notes, limit: 400))
                == (0..<90).filter { $0 % 2 == 0 }.map { "n\(1_000 + $0)" }
        )
        let all = Query(recordType: "Note", predicate: .and(members))
        #expect(
            try await Self.found(it, QueryRead(query: all, zone: notes, limit: 400))
                == (0..<200).filter { $0 % 3 == 1 }.map { "n\(1_000 + $0)" }
        )
    }

    @Test(arguments: EngineKind.allCases, [1, 40, 100])
    func `a page gets ahead in an intersection that is one of several alternatives`(
        kind: EngineKind,
        readsMax: Int
    ) async throws {
        let it = try await NumberedNotes.engine(600, kind) { $0.queryBudget.readsMax = readsMax }
        // The two lists are long and never meet.
        let both = RecordModel.Predicate.and([
            NumberedNotes.equals("parity", .int64(0)),
            .comparison(Comparison(field: "rank", comparator: .in, operand: .doubleList([0, 58, 59]))),
            NumberedNotes.equals("parity", .int64(1)),
        ])
        let query = Query(recordType: "Note", predicate: .or([both, NumberedNotes.number(.equals, 599)]))
        #expect(try await Self.found(it, QueryRead(query: query, zone: notes, limit: 400)) == ["n1599"])
    }

    @Test(arguments: EngineKind.allCases, [32, 33, 60])
    func `any of many places is found, though their order is not that of the index`(
        kind: EngineKind,
        count: Int
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        var places: [Location] = []
        for number in 0..<count {
            let (latitude, longitude) = (number * 37 % 180 - 90, number * 91 % 360 - 180)
            places.append(Location(latitude: Double(latitude), longitude: Double(longitude)))
        }
        _ = try await it.modify(
            places.enumerated().map { save("p\(100 + $0.offset)", ["at": .location($0.element)]) }
        )
        let any = Comparison(field: "at", comparator: .in, operand: .locationList(places + places))
        let query = Query(recordType: "Note", predicate: .comparison(any))
        let found = try await Self.found(it, QueryRead(query: query, limit: 7))
        #expect(found.sorted() == (0..<count).map { "p\(100 + $0)" })
    }

    @Test(arguments: EngineKind.allCases)
    func `a page goes on when the last record of the one before is gone`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modify([save("a", ["x": .int64(1), "y": .int64(5)]), save("b", ["y": .int64(3)])])
        let keys = [SortKey(field: "x"), SortKey(field: "y")]
        var read = QueryRead(query: Query(recordType: "Note", sort: keys), limit: 1)
        let first = try await it.query(read)
        #expect(NumberedNotes.names(first) == ["a"])
        _ = try await it.modify([], deletes: [id("a")])
        read.resume = first.resume
        #expect(NumberedNotes.names(try await it.query(read)) == ["b"])
    }

    @Test(arguments: EngineKind.allCases)
    func `a count reads no record where an index decides`(kind: EngineKind) async throws {
        let it = try await NumberedNotes.engine(300, kind)
        let conditions: [(RecordModel.Predicate, Int64)] = [
            (.all, 300), (NumberedNotes.equals("parity", .int64(0)), 150),
            (NumberedNotes.number(.lessThan, 10), 10),
            (
                .and([NumberedNotes.number(.greaterThanOrEquals, 10), NumberedNotes.number(.lessThan, 20)]),
                10
            ),
            (
                .or([
                    NumberedNotes.number(.equals, 3), NumberedNotes.number(.equals, 4),
                    NumberedNotes.number(.equals, 4),
                ]), 2
            ),
        ]
        for (predicate, expected) in conditions {
            let query = Query(recordType: "Note", predicate: predicate)
            let answer = try await it.query(QueryRead(query: query, isCount: true))
            #expect(answer.count == expected)
            #expect(answer.recordsRead == 0)
            #expect(answer.records.isEmpty)
        }
    }

    @Test(arguments: EngineKind.allCases, [100, 299, 300, 301])
    func `a count goes on where the budget ended`(kind: EngineKind, readsMax: Int) async throws {
        let it = try await NumberedNotes.engine(300, kind) { $0.queryBudget.readsMax = readsMax }
        var read = QueryRead(query: Query(recordType: "Note"), isCount: true)
        var count: Int64 = 0
        repeat {
            let answer = try await it.query(read)
            #expect(answer.entriesRead <= readsMax + 1)
            count += answer.count
            read.resume = answer.resume
        } while read.resume != nil
        #expect(count == 300)
    }

    @Test(arguments: EngineKind.allCases)
    func `a page that finds little ends at its budget and goes on`(kind: EngineKind) async throws {
        let it = try await NumberedNotes.engine(400, kind) { $0.queryBudget.readsMax = 100 }
        // No index helps with what a title is not.
        let rare = Comparison(field: "parity", comparator: .notEquals, operand: .int64(0))
        let query = Query(
            recordType: "Note",
            predicate: .and([.comparison(rare), NumberedNotes.number(.notEquals, 1)])
        )
        var read = QueryRead(query: query)
        var found: Set<String> = []
        var pages = 0
        repeat {
            let answer = try await it.query(read)
            #expect(answer.entriesRead + answer.recordsRead <= 100 + 512)
            found.formUnion(NumberedNotes.names(answer))
            read.resume = answer.resume
            pages += 1
        } while read.resume != nil
        #expect(found.count == 199)
        #expect(pages > 3)
    }

    @Test(arguments: EngineKind.allCases)
    func `a page ends before its bodies are too much for an answer`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind) { $0.bounds.responseBytesMax = 1_000 }
        let saves = (0..<7).map { save("n\($0)", ["text": .string(String(repeating: "t", count: 390))]) }
        _ = try await it.modify(saves)
        for sort in [[], [SortKey(field: "text")], [SortKey(field: "___createTime")]] {
            var read = QueryRead(query: Query(recordType: "Note", sort: sort))
            var sizes: [Int] = []
            repeat {
                let answer = try await it.query(read)
                sizes.append(answer.records.count)
                read.resume = answer.resume
            } while read.resume != nil
            #expect(sizes == [2, 2, 2, 1])
            read.desiredKeys = []
            #expect(try await it.query(read).records.count == 7)
        }
    }

    @Test(arguments: EngineKind.allCases)
    func `only the desired fields come`(kind: EngineKind) async throws {
        let it = try await NumberedNotes.engine(1, kind)
        var read = QueryRead(query: Query(recordType: "Note"), desiredKeys: ["number"])
        #expect(try await it.query(read).records[0].body.fields.map(\.name) == ["number"])
        read.desiredKeys = []
        #expect(try await it.query(read).records[0].body.isEmpty)
    }

    @Test(arguments: EngineKind.allCases)
    func `records without a sort field come last in both directions`(kind: EngineKind) async throws {
        let it = try await NumberedNotes.engine(6, kind)
        for isAscending in [true, false] {
            let keys = [
                SortKey(field: "rank", isAscending: isAscending),
                SortKey(field: "number", isAscending: false),
            ]
            let answer = try await it.query(QueryRead(query: Query(recordType: "Note", sort: keys)))
            #expect(NumberedNotes.names(answer) == ["n1004", "n1002", "n1000", "n1005", "n1003", "n1001"])
        }
    }

    @Test(arguments: EngineKind.allCases, [9, 10])
    func `an order of too many records is refused`(kind: EngineKind, collectedMax: Int) async throws {
        let it = try await NumberedNotes.engine(10, kind) { $0.queryBudget.collectedMax = collectedMax }
        _ = try await it.modify([
            save("place", type: "Place", ["at": .location(.init(latitude: 1, longitude: 1))])
        ])
        let places = (0..<9).map {
            save("p\($0)", type: "Place", ["at": .location(.init(latitude: Double($0), longitude: 1))])
        }
        _ = try await it.modify(places)
        let origin = Location(latitude: 0, longitude: 0)
        let near = Query(recordType: "Place", sort: [SortKey(field: "at", origin: origin)])
        // All notes have one tag's number of equal values.
        let same = Query(recordType: "Note", sort: [SortKey(field: "___createTime")])
        for query in [near, same] {
            if collectedMax == 10 {
                #expect(try await it.query(QueryRead(query: query)).records.count == 10)
            } else {
                await #expect(throws: StoreError.queryTooBroad) {
                    try await it.query(QueryRead(query: query))
                }
            }
        }
    }

    @Test(arguments: EngineKind.allCases)
    func `the nearest come first, also across the date line`(kind: EngineKind) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        let longitudes = ["a": 179.9, "b": -179.8, "c": 178.0, "d": 0.0]
        _ = try await it.modify(
            longitudes.map {
                save($0.key, ["at": .location(Location(latitude: 0, longitude: $0.value))])
            }
        )
        let origin = Location(latitude: 0, longitude: 180)
        let near = Comparison(
            field: "at",
            comparator: .near,
            operand: .location(origin),
            distanceMetres: 30_000
        )
        let query = Query(
            recordType: "Note",
            predicate: .comparison(near),
            sort: [SortKey(field: "at", origin: origin)]
        )
        #expect(NumberedNotes.names(try await it.query(QueryRead(query: query))) == ["a", "b"])
        let all = Query(recordType: "Note", sort: [SortKey(field: "at", origin: origin)])
        #expect(NumberedNotes.names(try await it.query(QueryRead(query: all))) == ["a", "b", "c", "d"])
    }

    @Test(arguments: EngineKind.allCases)
    func `by the date of the last change is sorted once the schema says so`(kind: EngineKind) async throws {
        let it = try await NumberedNotes.engine(2, kind)
        _ = try await it.modify([save("last")])
        it.clock.advance(milliseconds: 1_000)
        _ = try await it.modify([save("n1000", ["number": .int64(7)])], policy: .changedKeys)
        let key = SortKey(field: "___modTime", isAscending: false)
        let read = QueryRead(query: Query(recordType: "Note", sort: [key]))
        await #expect(throws: StoreError.fieldNotSortable(field: "___modTime")) { try await it.query(read) }
        let schemas = it.store.schemas
        // As an operator does it: export, edit, import.
        let text = try schemas.schema(ofContainer: EngineUnderTest.container, environment: .development).text
        let edited = text.replacing(
            "\"___modTime\"    TIMESTAMP,",
            with: "\"___modTime\" TIMESTAMP SORTABLE,",
            maxReplacements: 1
        )
        try schemas.apply(
            .replaceDevelopment(try SchemaParser.parse(edited)),
            inContainer: EngineUnderTest.container
        )
        // The index is filled in the background.
        var found: [String]?
        while found == nil { found = (try? await it.query(read)).map { NumberedNotes.names($0) } }
        #expect(found == ["n1000", "last", "n1001"])
    }

    @Test(arguments: EngineKind.allCases)
    func `a position outlives a restart`(kind: EngineKind) async throws {
        let it = try await NumberedNotes.engine(30, kind)
        for sort in [[], [SortKey(field: "number")]] {
            let query = Query(
                recordType: "Note",
                predicate: NumberedNotes.equals("parity", .int64(1)),
                sort: sort
            )
            var read = QueryRead(query: query, limit: 10)
            let first = try await it.query(read)
            let again = try it.beside()
            read.resume = first.resume
            let second = try await again.query(read)
            #expect(Set(NumberedNotes.names(first) + NumberedNotes.names(second)).count == 15)
            #expect(second.resume == nil)
            await again.store.shutdown()
        }
    }

    @Test(arguments: EngineKind.allCases)
    func `a query of all zones has the zones side by side in an order, one after the other without`(
        kind: EngineKind
    ) async throws {
        let it = try await EngineUnderTest.withNotes(kind)
        _ = try await it.modifyZones(["more"])
        let zones = [notes, ZoneID(zoneName: "more"), .default]
        for (number, zone) in zones.enumerated() {
            _ = try await it.modify([
                save("same", in: zone, ["n": .int64(1)]),
                save("z\(number)", in: zone, ["n": .int64(Int64(-number))]),
            ])
        }
        func places(_ answer: FoundPage) -> [String] {
            answer.records.map { "\($0.id.zone.zoneName)/\($0.id.recordName)" }
        }
        let sorted = Query(recordType: "Note", sort: [SortKey(field: "n")])
        #expect(
            places(try await it.query(QueryRead(query: sorted))) == [
                "_defaultZone/z2", "more/z1", "notes/z0", "_defaultZone/same", "more/same", "notes/same",
            ]
        )
        let unsorted = places(try await it.query(QueryRead(query: Query(recordType: "Note"))))
        #expect(
            unsorted == [
                "_defaultZone/same", "_defaultZone/z2", "more/same", "more/z1", "notes/same", "notes/z0",
            ]
        )
    }

}
