import RecordModel
import StorageContract
import Testing

@testable import RecordStore

/// What is judged of a query before it is read.
struct QueriesCheckTests {
    /// Those that may have marks.
    static let types: [FieldType] = FieldType.allCases.filter {
        ![.emptyList, .clear, .asset, .assetList].contains($0)
    }

    /// A type with a field of every type, named as it, all of them with every mark that it may have.
    static func everything(_ change: (inout QueryableType) -> Void = { _ in }) -> QueryableType {
        var type = QueryableType()
        var index: Int64 = 0
        for system in SystemField.allCases where system != .etag {
            index += 1
            let marks = system == .modTime ? [.queryable, .sortable] : IndexKinds.justInTime(for: system)
            type.fields[system.rawValue] = QueryableField(type: system.type, indexes: marks, index: index)
        }
        for field in self.types {
            index += 1
            type.fields["\(field)"] = QueryableField(
                type: field,
                indexes: [.queryable, .sortable, .searchable],
                index: index
            )
        }
        change(&type)
        return type
    }

    static func comparison(
        _ field: String,
        _ comparator: Comparator,
        _ operand: FieldValue
    ) -> RecordModel.Predicate {
        .comparison(Comparison(field: field, comparator: comparator, operand: operand, distanceMetres: 1))
    }

    private func refusal(
        _ predicate: RecordModel.Predicate,
        sort: [SortKey] = [],
        _ type: QueryableType? = QueriesCheckTests.everything()
    ) -> StoreError? {
        do throws(StoreError) {
            _ = try QueryCheck.check(Query(recordType: "Note", predicate: predicate, sort: sort), type: type)
            return nil
        } catch {
            return error
        }
    }

    private static let samples: [FieldType: FieldValue] = [
        .string: .string("a"), .int64: .int64(1), .double: .double(1), .timestamp: .timestamp(1),
        .bytes: .bytes([1]),
        .location: .location(Location(latitude: 1, longitude: 1)),
        .reference: .reference(Reference(recordName: "r", action: .none)), .stringList: .stringList(["a"]),
        .int64List: .int64List([1]), .doubleList: .doubleList([1]), .timestampList: .timestampList([1]),
        .bytesList: .bytesList([[1]]), .locationList: .locationList([Location(latitude: 1, longitude: 1)]),
        .referenceList: .referenceList([Reference(recordName: "r", action: .none)]),
    ]

    @Test(arguments: types)
    func `equality takes a value of the field's own type, and a number one of the other`(type: FieldType) {
        for given in Self.types {
            let comparator: Comparator = type.isList ? .listContains : .equals
            let element = type.element
            let isNumber = [.int64, .double].contains(element) && [.int64, .double].contains(given)
            let error = self.refusal(Self.comparison("\(type)", comparator, Self.samples[given]!))
            if given == element || isNumber {
                #expect(error == nil, "\(type) \(given)")
            } else {
                #expect(error == .operandTypeMismatch(field: "\(type)", given: given, defined: type))
            }
        }
    }

    @Test(arguments: types)
    func `every comparator has its types`(type: FieldType) {
        let scalar = !type.isList
        let ordered: Set<FieldType> = [.string, .int64, .double, .timestamp, .bytes]
        let expected: [Comparator: Bool] = [
            .equals: scalar, .notEquals: scalar, .in: scalar, .notIn: scalar,
            .lessThan: ordered.contains(type), .lessThanOrEquals: ordered.contains(type),
            .greaterThan: ordered.contains(type), .greaterThanOrEquals: ordered.contains(type),
            .near: type == .location, .beginsWith: type == .string, .notBeginsWith: type == .string,
            .listContains: !scalar, .listNotContains: !scalar, .listContainsAny: !scalar,
            .listNotContainsAny: !scalar, .listContainsAll: !scalar, .notListContainsAll: !scalar,
            .listMemberBeginsWith: type == .stringList, .notListMemberBeginsWith: type == .stringList,
            .containsAllTokens: type == .string || type == .stringList,
            .containsAnyTokens: type == .string || type == .stringList,
        ]
        for comparator in Comparator.allCases {
            let error = self.refusal(Self.comparison("\(type)", comparator, .clear))
            let mismatch = StoreError.comparatorMismatch(
                field: "\(type)",
                comparator: comparator,
                defined: type
            )
            #expect((error != mismatch) == expected[comparator], "\(comparator) on \(type): \(error as Any)")
        }
    }

    @Test
    func `a mark is needed for what is asked`() {
        func with(_ indexes: IndexKinds) -> QueryableType {
            Self.everything { $0.fields["string"]?.indexes = indexes }
        }
        let equals = Self.comparison("string", .equals, .string("a"))
        let less = Self.comparison("string", .lessThan, .string("a"))
        let words = Self.comparison("string", .containsAllTokens, .string("a b"))
        let sort = [SortKey(field: "string")]
        #expect(self.refusal(equals, with(.queryable)) == nil)
        #expect(self.refusal(equals, with([.sortable, .searchable])) == .fieldNotQueryable(field: "string"))
        #expect(self.refusal(less, with(.queryable)) == nil)
        #expect(self.refusal(less, with(.sortable)) == nil)
        #expect(self.refusal(less, with(.searchable)) == .fieldNotQueryable(field: "string"))
        #expect(self.refusal(words, with(.searchable)) == nil)
        #expect(self.refusal(words, with([.queryable, .sortable])) == .fieldNotSearchable(field: "string"))
        #expect(self.refusal(.all, sort: sort, with(.sortable)) == nil)
        #expect(self.refusal(.all, sort: sort, with(.queryable)) == .fieldNotSortable(field: "string"))
    }

    @Test
    func `all records are asked for by their names`() {
        let hidden = Self.everything { $0.fields["___recordID"]?.indexes = [] }
        #expect(self.refusal(.all, hidden) == .fieldNotQueryable(field: "recordName"))
        #expect(self.refusal(.and([.and([]), .all]), hidden) == .fieldNotQueryable(field: "recordName"))
        #expect(self.refusal(Self.comparison("int64", .notEquals, .int64(1)), hidden) == nil)
        #expect(self.refusal(.nothing, hidden) == nil)
        let byName = [SortKey(field: "___recordID")]
        #expect(self.refusal(.nothing, sort: byName, hidden) == .fieldNotSortable(field: "recordName"))
        #expect(self.refusal(.nothing, sort: byName) == nil)
    }

    @Test
    func `types and fields that nobody knows are named`() {
        #expect(self.refusal(.all, nil) == .recordTypeUnknown("Note"))
        #expect(self.refusal(Self.comparison("no", .equals, .int64(1))) == .fieldUnknown(field: "no"))
        #expect(self.refusal(.all, sort: [SortKey(field: "no")]) == .fieldUnknown(field: "no"))
        #expect(
            self.refusal(Self.comparison("___etag", .equals, .string("1")))
                == .fieldNotQueryable(field: "___etag")
        )
        for type in ["Users", "cloudkit.share"] {
            #expect(throws: StoreError.systemTypeQuery) {
                try QueryCheck.check(Query(recordType: type), type: Self.everything())
            }
        }
    }

    @Test
    func `encrypted fields are asked nothing`() {
        let type = Self.everything { $0.fields["string"]?.isEncrypted = true }
        let equals = Self.comparison("string", .equals, .string("a"))
        #expect(self.refusal(equals, type) == .fieldNotQueryable(field: "string"))
        let words = Self.comparison("string", .containsAllTokens, .string("a"))
        #expect(self.refusal(words, type) == .fieldNotSearchable(field: "string"))
        #expect(
            self.refusal(.all, sort: [SortKey(field: "string")], type) == .fieldNotSortable(field: "string")
        )
    }

    @Test
    func `lists, places without an origin and the text of all fields have no order`() {
        for type in Self.types where type.isList {
            let key = SortKey(field: "\(type)")
            #expect(self.refusal(.all, sort: [key]) == .fieldNotSortable(field: key.field))
        }
        let here = Location(latitude: 1, longitude: 1)
        #expect(
            self.refusal(.all, sort: [SortKey(field: "location")]) == .fieldNotSortable(field: "location")
        )
        #expect(self.refusal(.all, sort: [SortKey(field: "location", origin: here)]) == nil)
        let farthest = SortKey(field: "location", isAscending: false, origin: here)
        #expect(self.refusal(.all, sort: [farthest]) == .fieldNotSortable(field: "location"))
        #expect(
            self.refusal(.all, sort: [SortKey(field: "string", origin: here)])
                == .operandTypeMismatch(field: "string", given: .location, defined: .string)
        )
        let text = SystemField.allText.rawValue
        #expect(self.refusal(.all, sort: [SortKey(field: text)]) == .fieldNotSortable(field: text))
        #expect(
            self.refusal(Self.comparison(text, .equals, .string("a"))) == .fieldNotQueryable(field: text)
        )
    }

    @Test
    func `an index that is being built is waited for`() {
        let type = Self.everything { type in
            type.fields["string"]?.isBuilding = true
            type.fields["___allText"]?.isBuilding = true
        }
        func building(_ field: String) -> StoreError {
            .indexBuilding(field: field, retryAfterMilliseconds: 1_000)
        }
        #expect(self.refusal(Self.comparison("string", .notEquals, .string("a")), type) == building("string"))
        #expect(self.refusal(.all, sort: [SortKey(field: "string")], type) == building("string"))
        let words = Self.comparison("stringList", .containsAllTokens, .string("a b"))
        #expect(self.refusal(words, type) == building("___allText"))
        #expect(self.refusal(Self.comparison("int64", .equals, .int64(1)), type) == nil)
        let listing = Self.everything { $0.fields["___recordID"]?.isBuilding = true }
        #expect(self.refusal(Self.comparison("int64", .equals, .int64(1)), listing) == building("recordName"))
    }

    /// A comparison, and numbers that do and don't meet it.
    struct Row<Operand: Sendable, Number: Sendable>: Sendable {
        var comparator: Comparator
        var operand: Operand
        var met: [Number]
        var unmet: [Number]

        init(_ comparator: Comparator, _ operand: Operand, met: [Number], unmet: [Number]) {
            self.comparator = comparator
            self.operand = operand
            self.met = met
            self.unmet = unmet
        }
    }

    private static let integersAndDoubles: [Row<Double, Int64>] = [
        Row(.lessThan, 2.5, met: [2], unmet: [3]), Row(.greaterThan, 2.5, met: [3], unmet: [2]),
        Row(.lessThan, 2, met: [1], unmet: [2]), Row(.lessThanOrEquals, 2, met: [2], unmet: [3]),
        Row(.equals, 2, met: [2], unmet: [1, 3]), Row(.equals, 2.5, met: [], unmet: [2, 3]),
        Row(.lessThanOrEquals, -2.5, met: [-3], unmet: [-2]),
        Row(.greaterThanOrEquals, -2.5, met: [-2], unmet: [-3]),
        Row(.lessThan, 0x1p63, met: [.max], unmet: []),
        Row(.greaterThanOrEquals, 0x1p63, met: [], unmet: [.max]),
        Row(.greaterThanOrEquals, -0x1p63, met: [.min], unmet: []),
        Row(.lessThan, -0x1p63, met: [], unmet: [.min]),
        Row(.greaterThan, -1e300, met: [.min, .max], unmet: []),
        Row(.lessThan, .infinity, met: [.min, .max], unmet: []),
        Row(.notEquals, .nan, met: [0, 1], unmet: []),
        Row(.lessThanOrEquals, .nan, met: [], unmet: [0, .max]),
    ]

    @Test(arguments: integersAndDoubles)
    func `whole numbers are compared with doubles exactly`(row: Row<Double, Int64>) throws {
        let predicate = Self.comparison("int64", row.comparator, .double(row.operand))
        for number in row.met { #expect(try self.meets(predicate, ["int64": .int64(number)])) }
        for number in row.unmet { #expect(try !self.meets(predicate, ["int64": .int64(number)])) }
    }

    private static let between: Int64 = (1 << 53) + 1
    private static let doublesAndIntegers: [Row<Int64, Double>] = [
        Row(.lessThan, between, met: [0x1p53], unmet: [0x1p53 + 2]),
        Row(.greaterThanOrEquals, between, met: [0x1p53 + 2], unmet: [0x1p53]),
        Row(.equals, between, met: [], unmet: [0x1p53, 0x1p53 + 2]),
        Row(.lessThan, .max, met: [0x1p63.nextDown], unmet: [0x1p63]),
        Row(.greaterThan, .max, met: [0x1p63], unmet: [0x1p63.nextDown]),
        Row(.equals, .max, met: [], unmet: [0x1p63]), Row(.equals, .min, met: [-0x1p63], unmet: []),
        Row(.equals, 0, met: [-0.0, 0.0], unmet: [5e-300]),
    ]

    @Test(arguments: doublesAndIntegers)
    func `doubles are compared with whole numbers exactly`(row: Row<Int64, Double>) throws {
        let predicate = Self.comparison("double", row.comparator, .int64(row.operand))
        for number in row.met { #expect(try self.meets(predicate, ["double": .double(number)])) }
        for number in row.unmet { #expect(try !self.meets(predicate, ["double": .double(number)])) }
    }

    private func meets(_ predicate: RecordModel.Predicate, _ fields: [String: FieldValue]) throws -> Bool {
        let checked = try QueryCheck.check(predicate, type: Self.everything())
        return PredicateEvaluator(checked).matches(ComparedRecord(queriesRecord("r", fields)))
    }
}

/// A record as a query reads it.
func queriesRecord(_ name: String, number: Int64 = 1, _ fields: [String: FieldValue]) -> NamedRecord {
    queriesRecord(name, number: number, RecordBody(fields.map { Field(name: $0.key, value: $0.value) }))
}

func queriesRecord(_ name: String, number: Int64 = 1, _ body: RecordBody) -> NamedRecord {
    let system = SystemFields(
        createdMilliseconds: 1_700_000_000_000,
        modifiedMilliseconds: 1_700_000_000_500,
        createdBy: "_a",
        modifiedBy: ""
    )
    let stored = StoredRecord(
        number: number,
        recordType: "Note",
        position: 36,
        system: system,
        parent: nil,
        body: body
    )
    return NamedRecord(name: name, stored: stored)
}
