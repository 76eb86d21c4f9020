package import RecordModel

/// A query whose every part was found to agree with the schema, and whose values have the type of their field.
package struct CheckedQuery: Hashable, Sendable {
    package var recordType: String
    package var predicate: CheckedPredicate
    package var sort: [CheckedSortKey]
    /// The index with one entry a record, in the order of names.
    package var listing: IndexUse
}

/// A condition on a record, with nothing left to find out.
package indirect enum CheckedPredicate: Hashable, Sendable {
    case all
    case nothing
    case test(FieldTest)
    case and([CheckedPredicate])
    case or([CheckedPredicate])
}

/// A condition on one field.
package struct FieldTest: Hashable, Sendable {
    /// The fields that are looked at: one, or with full text all that are searchable.
    package var fields: [String]
    /// `nil`: there are no entries that could help.
    package var index: IndexUse?
    package var condition: ValueCondition
    /// True exactly where the condition is false; the condition is false of a record without the field.
    package var isNegated: Bool
    /// Of a search: that the entries of full text are of no other fields.
    package var isWholeText = false
}

/// What a value must be like; of a list: one element of it, unless it says more.
package enum ValueCondition: Hashable, Sendable {
    /// Ascending, each once.
    case anyOf([ComparableValue])
    /// Elements that a list must have, ascending, each once.
    case allOf([ComparableValue])
    case range(ValueRange)
    /// UTF-8.
    case prefix([UInt8])
    case near(Location, metres: Double)
    /// Folded words, each once.
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
    /// Equal when both degrees are; the order has no meaning.
    case place(latitude: Double, longitude: Double)
}

/// An index that a plan may use.
package struct IndexUse: Hashable, Sendable {
    package var number: Int64
    package var field: String
    /// A record may have several entries.
    package var isMany: Bool
    /// Integers have their entries among doubles.
    package var isNumber: Bool
    /// Whose values are looked at: the field itself, or those that full text searches.
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
    /// By distance from here.
    package var origin: Location?
    /// Every record has the field.
    package var isAlwaysPresent: Bool
}
