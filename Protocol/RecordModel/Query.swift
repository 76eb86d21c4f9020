/// A condition on the records of one type, and an order.
package struct Query: Hashable, Sendable {
    package var recordType: String
    package var predicate: Predicate
    /// The first key is the most significant.
    ///
    /// Equal records are ordered by name.
    ///
    /// If empty, the order is stable from page to page, and otherwise unspecified.
    package var sort: [SortKey]

    package init(recordType: String, predicate: Predicate = .all, sort: [SortKey] = []) {
        self.recordType = recordType
        self.predicate = predicate
        self.sort = sort
    }
}

/// A condition on a record: a tree; its leaves compare a field with a value.
///
/// There is no negation, because every comparator that can be negated has its opposite.
package indirect enum Predicate: Hashable, Sendable {
    /// Every record of the type.
    case all
    /// No record.
    case nothing
    case comparison(Comparison)
    /// All parts hold; true without parts.
    case and([Predicate])
    /// At least one part holds; false without parts.
    ///
    /// Beyond CloudKit.
    case or([Predicate])
}

extension Predicate {
    /// Number of comparisons in all parts.
    package var comparisonCount: Int {
        switch self {
        case .all, .nothing: 0
        case .comparison: 1
        case .and(let parts), .or(let parts): parts.reduce(0) { $0 + $1.comparisonCount }
        }
    }

    /// The same conditions with other operands.
    package func mappingOperands(_ change: (FieldValue) -> FieldValue) -> Predicate {
        switch self {
        case .all, .nothing: return self
        case .comparison(var comparison):
            comparison.operand = change(comparison.operand)
            return .comparison(comparison)
        case .and(let parts): return .and(parts.map { $0.mappingOperands(change) })
        case .or(let parts): return .or(parts.map { $0.mappingOperands(change) })
        }
    }
}

/// Compares the value of one field with an operand.
///
/// A record without the field fails every comparator except the negated ones (`notEquals`, `notIn`
/// …). These are true exactly if the opposite is false.
package struct Comparison: Hashable, Sendable {
    /// A field's name, or one of `SystemField`.
    package var field: String
    package var comparator: Comparator
    /// A list for `in`, `listContainsAny` and similar comparators.
    package var operand: FieldValue
    /// Metres along a great circle, for `near` only.
    package var distanceMetres: Double

    package init(field: String, comparator: Comparator, operand: FieldValue, distanceMetres: Double = 0) {
        self.field = field
        self.comparator = comparator
        self.operand = operand
        self.distanceMetres = distanceMetres
    }
}

/// How a comparison compares.
///
/// Raw values are those of `Comparator` in the `.proto`.
package enum Comparator: UInt8, Hashable, Sendable, CaseIterable {
    case equals = 1
    case notEquals = 2
    case lessThan = 3
    case lessThanOrEquals = 4
    case greaterThan = 5
    case greaterThanOrEquals = 6
    /// A location within this number of metres from the operand.
    case near = 7
    /// Full text. The field is `SystemField.allText` or a searchable one.
    case containsAllTokens = 8
    case containsAnyTokens = 9
    case `in` = 10
    case notIn = 11
    case beginsWith = 12
    case notBeginsWith = 13
    case listContains = 14
    case listNotContains = 15
    case listContainsAny = 16
    case listNotContainsAny = 17
    case listContainsAll = 18
    case notListContainsAll = 19
    case listMemberBeginsWith = 20
    case notListMemberBeginsWith = 21

    /// The comparator that is true exactly if this one is false, or `nil` if it cannot be negated.
    package var opposite: Comparator? {
        switch self {
        case .equals: .notEquals
        case .notEquals: .equals
        case .lessThan, .lessThanOrEquals, .greaterThan, .greaterThanOrEquals: nil
        case .near, .containsAllTokens, .containsAnyTokens: nil
        case .in: .notIn
        case .notIn: .in
        case .beginsWith: .notBeginsWith
        case .notBeginsWith: .beginsWith
        case .listContains: .listNotContains
        case .listNotContains: .listContains
        case .listContainsAny: .listNotContainsAny
        case .listNotContainsAny: .listContainsAny
        case .listContainsAll: .notListContainsAll
        case .notListContainsAll: .listContainsAll
        case .listMemberBeginsWith: .notListMemberBeginsWith
        case .notListMemberBeginsWith: .listMemberBeginsWith
        }
    }

    /// Whether it is true for a record without the field.
    package var isNegated: Bool {
        switch self {
        case .notEquals, .notIn, .notBeginsWith, .listNotContains, .listNotContainsAny, .notListContainsAll,
            .notListMemberBeginsWith:
            true
        case .equals, .lessThan, .lessThanOrEquals, .greaterThan, .greaterThanOrEquals, .near,
            .containsAllTokens, .containsAnyTokens, .in, .beginsWith, .listContains, .listContainsAny,
            .listContainsAll, .listMemberBeginsWith:
            false
        }
    }
}

/// A key of a query's order.
///
/// Records without the field come last, in both directions.
package struct SortKey: Hashable, Sendable {
    package var field: String
    package var isAscending: Bool
    /// For a location field: the point for an order by distance, ascending only.
    package var origin: Location?

    package init(field: String, isAscending: Bool = true, origin: Location? = nil) {
        self.field = field
        self.isAscending = isAscending
        self.origin = origin
    }
}

/// The fields that every record has, as the CloudKit Schema Language spells them.
package enum SystemField: String, Hashable, Sendable, CaseIterable {
    /// A reference to the record itself, ordered by name.
    case recordID = "___recordID"
    case createTime = "___createTime"
    case createdBy = "___createdBy"
    case modTime = "___modTime"
    case modifiedBy = "___modifiedBy"
    case etag = "___etag"
    /// A reference to the parent. Never in a schema file, and always queryable.
    case parent = "___parent"
    /// All searchable fields of the type together, for full text only.
    case allText = "___allText"

    /// Returns `nil` for any other name, most often after its first bytes.
    package init?(rawValue: String) {
        guard rawValue.utf8.starts(with: "___".utf8),
            let field = Self.allCases.first(where: { $0.rawValue == rawValue })
        else { return nil }
        self = field
    }

    package var type: FieldType {
        switch self {
        case .recordID, .createdBy, .modifiedBy, .parent: .reference
        case .createTime, .modTime: .timestamp
        case .etag, .allText: .string
        }
    }
}

/// Finds records, a page at a time.
///
/// Items of the response are numbered in the order in which they are sent.
package struct QueryRecords: Hashable, Sendable {
    package enum Start: Hashable, Sendable {
        /// `zone` is `nil` for all zones of the database.
        case query(Query, zone: ZoneID?)
        /// Continues where an earlier page ended, with the same query and zone.
        case cursor([UInt8])
    }

    package var scope: DatabaseScope
    package var start: Start
    /// `nil` for all fields; an empty list for none.
    package var desiredKeys: [String]?
    /// Records per page; 0 lets the server decide.
    package var limit: UInt32
    /// Returns the number instead of the records.
    ///
    /// Beyond CloudKit.
    package var isCount: Bool

    package init(
        scope: DatabaseScope,
        start: Start,
        desiredKeys: [String]? = nil,
        limit: UInt32 = 0,
        isCount: Bool = false
    ) {
        self.scope = scope
        self.start = start
        self.desiredKeys = desiredKeys
        self.limit = limit
        self.isCount = isCount
    }
}
