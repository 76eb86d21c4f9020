import RecordModel
import RecordStore
import TestSupport
import Testing

@testable import EngineConformance

/// Fields that a schema calls `NUMBER`: whole and fractional numbers in one order.
@Suite(.timeLimit(.minutes(10)))
struct NumberTests {
    /// Names in the order of their numbers; equal ones by name.
    private static let numbers: [(name: String, value: FieldValue)] = [
        ("a", .double(-0x1p64)), ("b", .int64(.min)), ("c", .int64(.min + 1)), ("d", .int64(-(1 << 53) - 1)),
        ("e", .double(-0x1p53)), ("f", .double(-1.5)), ("g", .int64(-1)), ("h", .double(0)), ("i", .int64(0)),
        ("j", .double(0.5)), ("k", .double(1)), ("l", .int64(1)), ("m", .double(1.5)), ("n", .int64(2)),
        ("o", .double(0x1p53)), ("p", .int64((1 << 53) + 1)), ("q", .double(0x1p53 + 2)),
        ("r", .int64(.max - 1)), ("s", .int64(.max)), ("t", .double(0x1p63)),
    ]

    private static func world(_ kind: EngineKind) async throws -> EngineUnderTest {
        let it = try await EngineUnderTest.withNotes(kind)
        let text =
            "DEFINE SCHEMA RECORD TYPE Note (n NUMBER QUERYABLE SORTABLE, \"___recordID\" REFERENCE QUERYABLE);"
        try it.store.schemas.apply(
            .replaceDevelopment(try SchemaParser.parse(text)),
            inContainer: EngineUnderTest.container
        )
        let saves = self.numbers.shuffled().map { save($0.name, ["n": $0.value]) }
        #expect(try await it.modify(saves).areSaved)
        return it
    }

    private static func names(
        _ it: EngineUnderTest,
        _ comparator: Comparator? = nil,
        _ operand: FieldValue = .int64(0),
        isAscending: Bool = true,
        limit: Int = 3
    ) async throws -> [String] {
        let predicate = comparator.map {
            RecordModel.Predicate.comparison(Comparison(field: "n", comparator: $0, operand: operand))
        }
        let query = Query(
            recordType: "Note",
            predicate: predicate ?? .all,
            sort: [SortKey(field: "n", isAscending: isAscending)]
        )
        var names: [String] = []
        var read = QueryRead(query: query, limit: limit)
        repeat {
            let answer = try await it.query(read)
            names += answer.records.map(\.id.recordName)
            read.resume = answer.resume
        } while read.resume != nil
        return names
    }

    /// The order of two values, as their places in the list have it.
    private static func rank(_ value: FieldValue) -> Int {
        // Equal numbers have the place of the first of them.
        switch value {
        case .int64(0): 7
        case .int64(1): 10
        default: self.numbers.firstIndex { $0.value == value }!
        }
    }

    @Test(arguments: EngineKind.allCases)
    func `both kinds are saved, come back as what they were, and are sorted as numbers, page by page`(
        kind: EngineKind
    ) async throws {
        let it = try await Self.world(kind)
        let all = Self.numbers.map(\.name)
        #expect(try await Self.names(it) == all)
        // Equal ones are in the order of their names in both directions.
        let descending = "tsrqponmkljhigfedcba".map { String($0) }
        #expect(try await Self.names(it, isAscending: false) == descending)
        let answer = try await it.query(QueryRead(query: Query(recordType: "Note")))
        let values = Dictionary(uniqueKeysWithValues: Self.numbers.map { ($0.name, $0.value) })
        for record in answer.records {
            #expect(record.body.fields.map(\.value) == [values[record.id.recordName]])
        }
    }

    @Test(arguments: EngineKind.allCases)
    func `comparisons are exact, whatever the operand's kind`(kind: EngineKind) async throws {
        let it = try await Self.world(kind)
        for (_, operand) in Self.numbers {
            let rank = Self.rank(operand)
            func expected(_ holds: (Int, Int) -> Bool) -> [String] {
                Self.numbers.filter { holds(Self.rank($0.value), rank) }.map(\.name)
            }
            #expect(try await Self.names(it, .equals, operand) == expected(==), "\(operand)")
            #expect(try await Self.names(it, .lessThan, operand) == expected(<), "\(operand)")
            #expect(try await Self.names(it, .lessThanOrEquals, operand) == expected(<=), "\(operand)")
            #expect(try await Self.names(it, .greaterThan, operand) == expected(>), "\(operand)")
            #expect(try await Self.names(it, .greaterThanOrEquals, operand) == expected(>=), "\(operand)")
            #expect(try await Self.names(it, .notEquals, operand) == expected(!=), "\(operand)")
        }
        #expect(try await Self.names(it, .in, .int64List([1, .max])) == ["k", "l", "s"])
        #expect(try await Self.names(it, .in, .doubleList([0, 0x1p63])) == ["h", "i", "t"])
    }

    @Test(arguments: EngineKind.allCases)
    func `a value that becomes the other kind stays where it is`(kind: EngineKind) async throws {
        let it = try await Self.world(kind)
        let changes = [
            ("k", FieldValue.int64(1)), ("n", .double(2)), ("p", .double(0x1p53 + 4)), ("a", .int64(7)),
        ]
        for (name, value) in changes {
            #expect(try await it.modify([save(name, ["n": value])], policy: .changedKeys).areSaved)
        }
        let order = "bcdefghijklmnaoqprst".map { String($0) }
        #expect(try await Self.names(it) == order)
        #expect(try await Self.names(it, .equals, .double(1)) == ["k", "l"])
        #expect(try await Self.names(it, .equals, .int64(2)) == ["n"])
    }
}
