import RecordModel
import RecordStore
import TestSupport

/// Makes schemas, records and queries by chance, from few values, so that they meet often.
struct QueryGenerator {
    struct FieldPlan {
        var name: String
        var type: FieldType
    }

    var generator: SeededGenerator
    let fields: [FieldPlan]
    let zones: [String]

    static let scalarTypes: [FieldType] = [.string, .int64, .double, .timestamp, .location, .reference]
    static let listTypes: [FieldType] = [
        .stringList, .int64List, .doubleList, .timestampList, .locationList, .referenceList,
    ]
    /// Distances between any two of them, and from any two to a third, differ by some per cent.
    static let places = [
        (52.5, 13.4), (48.1, 11.6), (40.7, -74.0), (-33.9, 151.2), (0.0, 179.9), (0.3, -179.7), (89.5, 10.0),
        (52.52, 13.45), (-54.8, -68.3),
    ].map { Location(latitude: $0.0, longitude: $0.1) }

    private static let long = String(repeating: "long ", count: 200)
    private static let strings = [
        "", "a", "b", "ab", "abc", "B", "\u{E9}t\u{E9}", "e\u{301}te\u{301}", "the end", "red Green, blue",
        "green",
        "RED", "Été red", "zz\u{FFFF}", "zz", long, long + "x", long + "y red", "abc abd",
    ]
    private static let integers: [Int64] = [
        0, 1, -1, 2, 3, 7, 100, .max, .min, 1 << 53, 1 << 53 + 1, -(1 << 53) - 1, .max - 1,
    ]
    private static let doubles: [Double] = [
        0, -0.0, 0.5, 1, -1, 1.5, 2, 100, 0x1p53, 0x1p63, -0x1p63, 1e300, -1e300, 2.3e-308,
    ]
    private static let names = ["r1", "r2", "r3", "q", "s"]

    init(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var fields: [FieldPlan] = []
        for number in 0..<Int.random(in: 2...6, using: &generator) {
            let types = Int.random(in: 0..<4, using: &generator) == 0 ? Self.listTypes : Self.scalarTypes
            // Names that begin like one another, and come before and behind those of noise.
            let name = ["f", "ff", "g", "fa", "Z", "a_b"][number]
            fields.append(FieldPlan(name: name, type: types.randomElement(using: &generator) ?? .string))
        }
        self.fields = fields
        self.zones = Array(
            [ZoneID.defaultZoneName, "notes", "other", "third"].prefix(
                Int.random(in: 1...4, using: &generator)
            )
        )
        self.generator = generator
    }

    mutating func chance(_ one: Int, in all: Int) -> Bool {
        Int.random(in: 0..<all, using: &self.generator) < one
    }

    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self.generator) }

    mutating func pick<Element>(_ list: [Element]) -> Element {
        list[Int.random(in: 0..<list.count, using: &self.generator)]
    }

    // MARK: Values

    mutating func value(_ type: FieldType) -> FieldValue {
        switch type {
        case .string: .string(self.pick(Self.strings))
        case .int64: .int64(self.pick(Self.integers))
        case .double: .double(self.pick(Self.doubles))
        case .timestamp: .timestamp(self.pick([0, 1, 1.5, -5, 700_000_000, 721_692_800]))
        case .location: .location(self.pick(Self.places))
        case .reference: .reference(Reference(recordName: self.pick(Self.names), action: .none))
        case .bytes: .bytes([1])
        default: self.list(type.elementType, count: self.number(0...4))
        }
    }

    mutating func list(_ element: FieldType, count: Int) -> FieldValue {
        let values = (0..<count).map { _ in self.value(element) }
        return FieldValue(list: values, of: element)
    }

    /// The fields of a record, some of them absent.
    mutating func record() -> [String: FieldValue] {
        var record: [String: FieldValue] = [:]
        for field in self.fields where self.chance(4, in: 5) {
            let isUnknownList = field.type.isList && self.chance(1, in: 20)
            record[field.name] = isUnknownList ? .emptyList : self.value(field.type)
        }
        return record
    }

    // MARK: Queries

    mutating func query() -> Query {
        var sort: [SortKey] = []
        if self.chance(1, in: 2) {
            for _ in 0..<self.number(1...3) {
                if let key = self.sortKey() { sort.append(key) }
            }
        }
        return Query(recordType: "Note", predicate: self.predicate(depth: self.number(0...3)), sort: sort)
    }

    private mutating func sortKey() -> SortKey? {
        let system = [SystemField.recordID, .createTime, .modTime].map(\.rawValue)
        if self.chance(1, in: 4) {
            return SortKey(field: self.pick(system), isAscending: self.chance(1, in: 2))
        }
        let field = self.pick(self.fields)
        guard !field.type.isList, field.type != .reference else { return nil }
        if field.type == .location { return SortKey(field: field.name, origin: self.pick(Self.places)) }
        return SortKey(field: field.name, isAscending: self.chance(1, in: 2))
    }

    mutating func predicate(depth: Int) -> Predicate {
        if depth == 0 || self.chance(1, in: 3) {
            return self.chance(1, in: 12) ? self.pick([.all, .nothing]) : .comparison(self.comparison())
        }
        let parts = (0..<self.number(0...4)).map { _ in self.predicate(depth: depth - 1) }
        return self.chance(2, in: 3) ? .and(parts) : .or(parts)
    }

    private mutating func comparison() -> Comparison {
        if self.chance(1, in: 8) { return self.systemComparison() }
        let field = self.pick(self.fields)
        if self.chance(1, in: 6), self.fields.contains(where: { $0.type == .string }) {
            return self.search(field)
        }
        if field.type.isList { return self.comparison(ofList: field) }
        var comparators: [Comparator] = [.equals, .notEquals, .in, .notIn, .equals]
        switch field.type {
        case .string:
            comparators += [.beginsWith, .notBeginsWith] + Self.ranges
        case .int64, .double, .timestamp: comparators += Self.ranges + Self.ranges
        case .location: comparators += [.near, .near, .near]
        default: break
        }
        return self.comparison(field.name, self.pick(comparators), field.type)
    }

    private static let ranges: [Comparator] = [
        .lessThan, .lessThanOrEquals, .greaterThan, .greaterThanOrEquals,
    ]

    private mutating func comparison(
        _ field: String,
        _ comparator: Comparator,
        _ type: FieldType
    ) -> Comparison {
        switch comparator {
        case .in, .notIn:
            let count = self.chance(1, in: 10) ? self.number(30...40) : self.number(0...4)
            return Comparison(
                field: field,
                comparator: comparator,
                operand: self.list(self.numberType(type), count: count)
            )
        case .near:
            // Half of them far from any border between places.
            let metres = self.pick([0, 1_000, 30_000, 100_000, 2_000_000, 1.2e7, 1e9])
            return Comparison(
                field: field,
                comparator: comparator,
                operand: .location(self.pick(Self.places)),
                distanceMetres: metres
            )
        case .beginsWith, .notBeginsWith:
            let prefix = self.pick(["", "a", "ab", "é", "e", "z", Self.long, Self.long + "x"])
            return Comparison(field: field, comparator: comparator, operand: .string(prefix))
        default:
            return Comparison(
                field: field,
                comparator: comparator,
                operand: self.value(self.numberType(type))
            )
        }
    }

    /// A number may be compared with one of the other type.
    private mutating func numberType(_ type: FieldType) -> FieldType {
        guard type == .int64 || type == .double else { return type }
        return self.chance(1, in: 2) ? .int64 : .double
    }

    private mutating func comparison(ofList field: FieldPlan) -> Comparison {
        var comparators: [Comparator] = [
            .listContains, .listNotContains, .listContainsAny, .listNotContainsAny, .listContainsAll,
            .notListContainsAll,
        ]
        if field.type == .stringList { comparators += [.listMemberBeginsWith, .notListMemberBeginsWith] }
        let comparator = self.pick(comparators)
        let element = self.numberType(field.type.elementType)
        switch comparator {
        case .listContains, .listNotContains:
            return Comparison(field: field.name, comparator: comparator, operand: self.value(element))
        case .listMemberBeginsWith, .notListMemberBeginsWith:
            let prefix = self.pick(["", "a", "ab", "é", "lon"])
            return Comparison(field: field.name, comparator: comparator, operand: .string(prefix))
        default:
            let count = self.chance(1, in: 10) ? self.number(30...40) : self.number(0...4)
            let operand = self.list(element, count: count)
            return Comparison(field: field.name, comparator: comparator, operand: operand)
        }
    }

    private mutating func search(_ field: FieldPlan) -> Comparison {
        let words = self.pick(["red", "RED blue", "the", "ete", "Été green", "long", "x red", "abd abc", ""])
        let isOne = field.type == .string && self.chance(1, in: 2)
        return Comparison(
            field: isOne ? field.name : SystemField.allText.rawValue,
            comparator: self.pick([.containsAllTokens, .containsAnyTokens]),
            operand: .string(words)
        )
    }

    private mutating func systemComparison() -> Comparison {
        switch self.number(0...3) {
        case 0:
            let names = self.list(.reference, count: self.number(0...3))
            return Comparison(field: "___recordID", comparator: self.pick([.in, .notIn]), operand: names)
        case 1:
            return Comparison(
                field: "___parent",
                comparator: self.pick([.equals, .notEquals]),
                operand: self.value(.reference)
            )
        default:
            let seconds = 721_692_800 + Double(self.number(0...30)) / 10
            return Comparison(
                field: self.pick(["___createTime", "___modTime"]),
                comparator: self.pick(Self.ranges + [.equals, .notEquals]),
                operand: .timestamp(seconds)
            )
        }
    }
}

extension FieldType {
    var elementType: FieldType {
        switch self {
        case .stringList: .string
        case .int64List: .int64
        case .doubleList: .double
        case .timestampList: .timestamp
        case .locationList: .location
        default: .reference
        }
    }
}

extension FieldValue {
    fileprivate init(list: [FieldValue], of element: FieldType) {
        self =
            switch element {
            case .string:
                .stringList(list.compactMap { if case .string(let text) = $0 { text } else { nil } })
            case .int64:
                .int64List(list.compactMap { if case .int64(let number) = $0 { number } else { nil } })
            case .double:
                .doubleList(list.compactMap { if case .double(let number) = $0 { number } else { nil } })
            case .timestamp:
                .timestampList(list.compactMap { if case .timestamp(let date) = $0 { date } else { nil } })
            case .location:
                .locationList(list.compactMap { if case .location(let place) = $0 { place } else { nil } })
            default:
                .referenceList(list.compactMap { if case .reference(let name) = $0 { name } else { nil } })
            }
    }
}
