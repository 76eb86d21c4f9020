package import RecordModel

/// A query that was checked against the schema, with values in the types of their fields.
package struct CheckedQuery: Hashable, Sendable {
    package var recordType: String
    package var predicate: CheckedPredicate
    package var sort: [CheckedSortKey]
    /// The index with one entry per record, in the order of names.
    package var listing: IndexUse
}

/// A checked condition on a record.
package indirect enum CheckedPredicate: Hashable, Sendable {
    case all
    case nothing
    case test(FieldTest)
    case and([CheckedPredicate])
    case or([CheckedPredicate])
}

/// A condition on one field.
package struct FieldTest: Hashable, Sendable {
    /// The fields that are tested: one, or all searchable fields for full text.
    package var fields: [String]
    /// `nil` if no index entries can help.
    package var index: IndexUse?
    package var condition: ValueCondition
    /// Whether the test is true exactly if the condition is false.
    ///
    /// The condition is false for a record without the field.
    package var isNegated: Bool
    /// For a search: whether the entries of full text belong to these fields only.
    package var isWholeText = false
}

/// A condition on a value.
///
/// A list meets it with one of its elements, unless the case says otherwise.
package enum ValueCondition: Hashable, Sendable {
    /// Ascending, without repetition.
    case anyOf([ComparableValue])
    /// Elements that a list must have, ascending, without repetition.
    case allOf([ComparableValue])
    case range(ValueRange)
    /// UTF-8.
    case prefix([UInt8])
    case near(Location, metres: Double)
    /// Folded words, without repetition.
    case anyToken([[UInt8]])
    case allTokens([[UInt8]])
}

/// Values between two bounds.
package struct ValueRange: Hashable, Sendable {
    package struct End: Hashable, Sendable {
        package var value: ComparableValue
        package var isIncluded: Bool
    }

    package var lower: End?
    package var upper: End?

    func contains(_ value: ComparableValue) -> Bool {
        if let lower = self.lower {
            guard lower.value < value || (lower.isIncluded && lower.value == value) else { return false }
        }
        if let upper = self.upper {
            guard value < upper.value || (upper.isIncluded && upper.value == value) else { return false }
        }
        return true
    }
}

/// A value that can be compared with others of its field.
package enum ComparableValue: Sendable {
    /// Strings as UTF-8, byte strings, and references as the name of their record.
    case bytes([UInt8])
    case integer(Int64)
    /// Doubles and timestamps.
    case double(Double)
    /// Equal if both degrees are equal. The order has no meaning.
    case coordinate(latitude: Double, longitude: Double)
}

/// An index that a plan may use.
package struct IndexUse: Hashable, Sendable {
    package var number: Int64
    package var field: String
    /// Whether a record may have several entries.
    package var isMany: Bool
    /// Whether integers have their entries among doubles.
    package var isNumber: Bool
    /// The fields with the indexed values: the field itself, or those of full text.
    package var sources: [String]

    init(
        number: Int64,
        field: String,
        isMany: Bool,
        isNumber: Bool = false,
        sources: [String]? = nil
    ) {
        self.number = number
        self.field = field
        self.isMany = isMany
        self.isNumber = isNumber
        self.sources = sources ?? [field]
    }
}

package struct CheckedSortKey: Hashable, Sendable {
    package var field: String
    package var index: IndexUse
    package var isAscending: Bool
    /// For an order by distance: the point that it is measured from.
    package var origin: Location?
    /// Whether every record has the field.
    package var isAlwaysPresent: Bool
}
