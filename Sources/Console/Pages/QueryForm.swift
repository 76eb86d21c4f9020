import PredicateFormat
import RecordModel
import RecordStore
import StorageContract

/// A query as the fields of a form say it.
struct QueryForm: Hashable, Sendable {
    struct Condition: Hashable, Sendable {
        var field: String
        var test: QueryTest
        var value: String
    }

    /// Conditions that a form shows; more than an operator fills in.
    private static let conditionsMax = 20

    var type: String
    var conditions: [Condition]
    /// In the format language of NSPredicate; `nil` if there is none.
    var predicate: String?
    var sort: String?
    var isDescending: Bool
    /// The fields to show; empty for the first of the schema.
    var columns: [String]
    var zone: ZoneID?

    init?(_ items: FormItems) {
        guard let type = items["type"] else { return nil }
        self.type = type
        let tests = items.all("test")
        let values = items.all("value")
        self.conditions = items.all("field").enumerated().prefix(Self.conditionsMax).compactMap {
            offset,
            field in
            guard !field.isEmpty, tests.indices.contains(offset), values.indices.contains(offset),
                let test = QueryTest(rawValue: tests[offset])
            else { return nil }
            return Condition(field: field, test: test, value: values[offset])
        }
        self.predicate = items["predicate"]
        self.sort = items["sort"]
        self.isDescending = items["order"] == "descending"
        self.columns = items.all("columns").flatMap {
            $0.split { $0 == "," || $0 == " " }.map(String.init)
        }
        self.zone = items["zone"].map { ZoneID(zoneName: $0, ownerName: items["owner"] ?? "") }
    }

    /// Whether the order is by a time that no index of the type has, so that each page is sorted by itself.
    func isSortedOnPage(_ definition: RecordTypeDefinition?) -> Bool {
        let modified = SystemField.modTime.rawValue
        return self.sort == modified && definition?[modified]?.indexes.contains(.sortable) != true
    }

    /// The form in one line, for paper.
    var words: String {
        let conditions = self.conditions.map { "\($0.field) \($0.test.title) \($0.value)" }
        let all = (conditions + [self.predicate].compactMap { $0 }).joined(separator: " and ")
        let order = self.sort.map { ", by \($0), \(self.isDescending ? "descending" : "ascending")" } ?? ""
        let zone = self.zone.map { " in the zone \($0.zoneName)" } ?? ""
        return self.type + zone + (all.isEmpty ? "" : " where \(all)") + order
    }

    /// The query.
    ///
    /// - Throws: `PageFailure` that says which part is wrong.
    func query(
        definition: RecordTypeDefinition?,
        nowMilliseconds: Int64
    ) throws(PageFailure) -> Query {
        var parts: [Predicate] = []
        for condition in self.conditions {
            parts.append(try self.comparison(condition, definition))
        }
        if let predicate {
            do throws(PredicateFailure) {
                let syntax = try PredicateSyntax(format: predicate)
                let now = ServerDate.seconds(milliseconds: nowMilliseconds)
                parts.append(try Predicate(syntax, nowSeconds: now))
            } catch {
                throw .invalid(error.text)
            }
        }
        let whole: Predicate = parts.count == 1 ? parts[0] : parts.isEmpty ? .all : .and(parts)
        let keys = self.sort.map { [SortKey(field: $0, isAscending: !self.isDescending)] } ?? []
        return Query(recordType: self.type, predicate: whole, sort: keys)
    }

    private func comparison(
        _ condition: Condition,
        _ definition: RecordTypeDefinition?
    ) throws(PageFailure) -> Predicate {
        let type = definition?[condition.field]?.fieldType ?? SystemField(rawValue: condition.field)?.type
        guard let type else { throw .invalid("The type \(self.type) has no field \(condition.field).") }
        let value = try ValueText.value(
            condition.value,
            of: condition.test.operandType(of: type),
            field: condition.field
        )
        return .comparison(
            Comparison(field: condition.field, comparator: condition.test.comparator, operand: value)
        )
    }
}

/// A comparison that a form offers.
enum QueryTest: String, CaseIterable, Sendable {
    case equals = "eq"
    case notEquals = "ne"
    case lessThan = "lt"
    case atMost = "le"
    case greaterThan = "gt"
    case atLeast = "ge"
    case beginsWith = "begins"
    case listContains = "contains"
    case hasWords = "words"

    var title: String {
        switch self {
        case .equals: "is"
        case .notEquals: "is not"
        case .lessThan: "<"
        case .atMost: "≤"
        case .greaterThan: ">"
        case .atLeast: "≥"
        case .beginsWith: "begins with"
        case .listContains: "contains the element"
        case .hasWords: "has the words"
        }
    }

    var comparator: Comparator {
        switch self {
        case .equals: .equals
        case .notEquals: .notEquals
        case .lessThan: .lessThan
        case .atMost: .lessThanOrEquals
        case .greaterThan: .greaterThan
        case .atLeast: .greaterThanOrEquals
        case .beginsWith: .beginsWith
        case .listContains: .listContains
        case .hasWords: .containsAllTokens
        }
    }

    /// The type of what a field is compared with.
    func operandType(of type: FieldType) -> FieldType {
        switch self {
        case .hasWords: .string
        default: type.elementType
        }
    }
}

extension FieldDeclaration {
    /// The type of its values, whatever a schema calls it.
    var fieldType: FieldType {
        switch self.type {
        case .field(let type): type
        case .number(let preferred): preferred ?? .double
        }
    }
}

extension FieldType {
    /// The type of a list's elements; of another type itself.
    var elementType: FieldType {
        switch self {
        case .stringList: .string
        case .int64List: .int64
        case .doubleList: .double
        case .timestampList: .timestamp
        case .bytesList: .bytes
        case .locationList: .location
        case .referenceList: .reference
        case .assetList: .asset
        case .string, .int64, .double, .timestamp, .bytes, .location, .reference, .asset, .emptyList, .clear:
            self
        }
    }
}
