/// Which records of one type, and in which order.
package struct Query: Hashable, Sendable {
    package var recordType: String
    package var predicate: Predicate
    /// The first counts most; equal records come in the order of their names.
    ///
    /// Empty: an order that is stable from page to page, and nothing else is said of it.
    package var sort: [SortKey]

    package init(recordType: String, predicate: Predicate = .all, sort: [SortKey] = []) {
        self.recordType = recordType
        self.predicate = predicate
        self.sort = sort
    }
}

/// A condition on a record: a tree whose leaves compare a field with a value.
///
/// There is no negation: every comparator that may be negated has its opposite.
package indirect enum Predicate: Hashable, Sendable {
    /// Every record of the type.
    case all
    /// No record.
    case nothing
    case comparison(Comparison)
    /// All of them; of no parts: true.
    case and([Predicate])
    /// One of them at least; of no parts: false.
    ///
    /// Beyond CloudKit.
    case or([Predicate])
}

extension Predicate {
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
/// A record without the field meets no comparator but those that are the opposite of another
/// (`notEquals`, `notIn` …): they are true exactly where the other is false.
package struct Comparison: Hashable, Sendable {
    /// A field's name, or one of `SystemField`.
    package var field: String
    package var comparator: Comparator
    /// For `in`, `listContainsAny` and their like a list.
    package var operand: FieldValue
    /// With `near` only: metres along a great circle.
    package var distanceMetres: Double

    package init(field: String, comparator: Comparator, operand: FieldValue, distanceMetres: Double = 0) {
        self.field = field
        self.comparator = comparator
        self.operand = operand
        self.distanceMetres = distanceMetres
    }
}

/// How a comparison compares; raw values are those of `Comparator` in the `.proto`.
package enum Comparator: UInt8, Hashable, Sendable, CaseIterable {
    case equals = 1
    case notEquals = 2
    case lessThan = 3
    case lessThanOrEquals = 4
    case greaterThan = 5
    case greaterThanOrEquals = 6
    /// A location no farther than so many metres from the operand.
    case near = 7
    /// Full text; the field is `SystemField.allText` or one that is searchable.
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

    /// The comparator that is true exactly where this one is false, or `nil` if there is none.
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

    /// Whether it is true of a record without the field.
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

/// What a result is ordered by.
///
/// Records without the field come last, in both directions.
package struct SortKey: Hashable, Sendable {
    package var field: String
    package var isAscending: Bool
    /// With a location field: by distance from here, ascending only.
    package var origin: Location?

    package init(field: String, isAscending: Bool = true, origin: Location? = nil) {
        self.field = field
        self.isAscending = isAscending
        self.origin = origin
    }
}

/// The fields that every record has, as the CloudKit Schema Language spells them.
package enum SystemField: String, Hashable, Sendable, CaseIterable {
    /// A reference to the record itself; ordered by name.
    case recordID = "___recordID"
    case createTime = "___createTime"
    case createdBy = "___createdBy"
    case modTime = "___modTime"
    case modifiedBy = "___modifiedBy"
    case etag = "___etag"
    /// A reference to the parent; never in a schema file, always queryable.
    case parent = "___parent"
    /// All searchable fields of the type together: only with the comparators of full text.
    case allText = "___allText"

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
/// Items of the answer are numbered as they come.
package struct QueryRecords: Hashable, Sendable {
    package enum Start: Hashable, Sendable {
        /// `zone` is `nil` for all zones of the database.
        case query(Query, zone: ZoneID?)
        /// Goes on where an answer ended, with the query and the zone of then.
        case cursor([UInt8])
    }

    package var scope: DatabaseScope
    package var start: Start
    /// All fields if `nil`, none if empty.
    package var desiredKeys: [String]?
    /// Records of a page; 0: as many as the server gives.
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
