import RecordModel
import StorageContract
import Testing

@testable import RecordStore

/// Which source a query is read from, given how many entries each has.
struct QueriesPlanTests {
    /// Entries by name of the field; a field that is not named has 10,000.
    private func plan(
        _ predicate: RecordModel.Predicate,
        sort: [SortKey] = [],
        isCount: Bool = false,
        entries: [String: Int] = [:]
    ) throws -> [String] {
        let query = Query(recordType: "Note", predicate: predicate, sort: sort)
        let checked = try QueryCheck.check(query, type: QueriesCheckTests.everything())
        let planner = self.planner(checked, isCount: isCount, known: nil, entries)
        let (plan, choices) = try planner.plan()
        // With known choices nothing is counted, and the plan is the same.
        let again = self.planner(checked, isCount: isCount, known: choices, nil)
        #expect(try again.plan().plan.order == plan.order)
        return plan.lines(sort: query.sort)
    }

    private func planner(
        _ query: CheckedQuery,
        isCount: Bool,
        known: [Int]?,
        _ entries: [String: Int]?
    ) -> QueryPlanner {
        QueryPlanner(query, isCount: isCount, choices: Choices(known: known), countedMax: 1_000) {
            (source, limit) throws(QueryFailure) in
            guard let entries else {
                Issue.record("a later page counts")
                return 0
            }
            return min(limit, Self.count(source, entries))
        }
    }

    private static func count(_ source: QuerySource, _ entries: [String: Int]) -> Int {
        switch source {
        case .ranges(let index, _): entries[index.field] ?? 10_000
        case .numbers(let numbers): self.count(numbers, entries)
        case .branches(let branches): branches.reduce(0) { $0 + self.count($1.source, entries) }
        }
    }

    private static func count(_ source: NumberSource, _ entries: [String: Int]) -> Int {
        switch source {
        case .value(let index, _): entries[index.field] ?? 10_000
        case .any(let parts): parts.reduce(0) { $0 + self.count($1, entries) }
        case .all(let parts): parts.map { self.count($0, entries) }.min() ?? 0
        }
    }

    private let one = QueriesCheckTests.comparison("int64", .equals, .int64(1))
    private let text = QueriesCheckTests.comparison("string", .equals, .string("a"))
    private let member = QueriesCheckTests.comparison("stringList", .listContains, .string("a"))
    private let early = QueriesCheckTests.comparison("timestamp", .lessThan, .timestamp(9))
    private let late = QueriesCheckTests.comparison("timestamp", .greaterThan, .timestamp(1))
    private let other = QueriesCheckTests.comparison("int64", .notEquals, .int64(1))

    @Test
    func `without a condition that an index knows all records are read`() throws {
        #expect(try self.plan(.all) == ["read index of ___recordID from end to end"])
        let filtered = try self.plan(self.other)
        #expect(
            filtered == ["read index of ___recordID from end to end", "filter by record: not int64 equals"]
        )
        #expect(try self.plan(.nothing) == ["read nothing"])
        #expect(try self.plan(.and([self.one, .nothing])) == ["read nothing"])
    }

    @Test
    func `one condition is read from its index, and decides`() throws {
        #expect(try self.plan(self.one) == ["read one value of int64"])
        #expect(try self.plan(self.early) == ["read index of timestamp in 1 range"])
    }

    @Test
    func `two bounds of one field are one range`() throws {
        let plan = try self.plan(.and([self.early, self.late]))
        #expect(plan == ["read index of timestamp in 1 range"])
    }

    @Test
    func `few candidates are filtered, many are intersected`() throws {
        let all = RecordModel.Predicate.and([self.one, self.text, self.member])
        #expect(
            try self.plan(all, entries: ["string": 32]) == [
                "read one value of string",
                "filter by record: (int64 equals and string equals and stringList equals)",
            ]
        )
        let intersection = "read all of (one value of int64, one value of string, one value of stringList)"
        #expect(try self.plan(all, entries: ["string": 33]) == [intersection])
        #expect(try self.plan(all, isCount: true, entries: ["string": 3]) == [intersection])
    }

    @Test
    func `the smallest source is read, a range too`() throws {
        let both = RecordModel.Predicate.and([self.one, self.early])
        let filter = "filter by record: (int64 equals and timestamp between)"
        #expect(
            try self.plan(both, entries: ["timestamp": 999]) == [
                "read index of timestamp in 1 range", filter,
            ]
        )
        #expect(try self.plan(both, entries: ["timestamp": 1_000]) == ["read one value of int64", filter])
    }

    @Test
    func `alternatives are merged, or read one after the other, or filtered`() throws {
        #expect(
            try self.plan(.or([self.one, self.member])) == [
                "read any of (one value of int64, one value of stringList)"
            ]
        )
        #expect(
            try self.plan(.or([self.one, self.early])) == [
                "one after another:", "  read one value of int64", "  read index of timestamp in 1 range",
                "filter by record: (int64 equals or timestamp between)",
            ]
        )
        #expect(
            try self.plan(.or([self.one, self.other])).first == "read index of ___recordID from end to end"
        )
    }

    @Test
    func `many values of one field are ranges of its index`() throws {
        let few = QueriesCheckTests.comparison("int64", .in, .int64List(Array(1...32)))
        let many = QueriesCheckTests.comparison("int64", .in, .int64List(Array(1...33)))
        #expect(try self.plan(few).first?.hasPrefix("read any of (one value of int64, ") == true)
        #expect(try self.plan(many) == ["read index of int64 in 33 ranges"])
    }

    @Test
    func `an order comes from an index, or from collecting what is little`() throws {
        let byDate = [SortKey(field: "timestamp", isAscending: false)]
        let order = "in the order of timestamp descending"
        #expect(
            try self.plan(.all, sort: byDate) == ["read index of timestamp from end to end \(order)"]
        )
        #expect(
            try self.plan(self.late, sort: byDate).first == "read index of timestamp in 1 range \(order)"
        )
        #expect(
            try self.plan(self.one, sort: byDate, entries: ["int64": 999]) == [
                "read one value of int64", "collect, and take the first by timestamp descending",
            ]
        )
        #expect(
            try self.plan(self.one, sort: byDate, entries: ["int64": 1_000]) == [
                "read index of timestamp from end to end \(order)", "filter by record: int64 equals",
            ]
        )
    }

    @Test
    func `an order by distance is always collected`() throws {
        let near = [SortKey(field: "location", origin: Location(latitude: 1, longitude: 1))]
        #expect(
            try self.plan(.all, sort: near) == [
                "read index of ___recordID from end to end",
                "collect, and take the first by distance to location",
            ]
        )
    }

    @Test(arguments: [
        QueryPosition.Order.source(zone: "z", branch: 3, .start), .source(zone: "", branch: 0, .number(.max)),
        .source(zone: "notes", branch: 1, .entry(EntryPosition(value: [0, 255], record: -1))), .sorted(nil),
        .sorted(SortEnd(keys: [nil, [1, 2]])), .sorted(SortEnd(keys: [nil], name: "n")),
        .sorted(SortEnd(keys: [[]], name: "n", zone: "z")),
    ])
    func `a position survives as bytes, and no part of them is one`(order: QueryPosition.Order) throws {
        let position = QueryPosition(choices: [0, 7, 300], signature: .min, order: order)
        #expect(try QueryPosition(position.bytes) == position)
        for length in position.bytes.indices {
            #expect(throws: StoreError.cursorInvalid) { try QueryPosition(Array(position.bytes[..<length])) }
        }
        #expect(throws: StoreError.cursorInvalid) { try QueryPosition(position.bytes + [0]) }
    }
}
