import RecordModel

/// Tests whether a record meets a condition.
package struct PredicateEvaluator: Sendable {
    private let predicate: CheckedPredicate

    package init(_ predicate: CheckedPredicate) {
        self.predicate = predicate
    }

    package func matches(_ record: ComparedRecord) -> Bool {
        self.predicate.matches(record)
    }
}

/// The values of one record, for conditions.
protocol ConditionValues {
    /// `nil` if the record lacks the field, or it cannot be compared.
    func elements(of field: String) -> [ComparableValue]?
    /// The words of some fields.
    func tokens(of fields: [String]) -> Set<[UInt8]>
    /// Counts comparisons of values.
    func count(comparisons: Int)
}

extension RecordValues: ConditionValues {
    func count(comparisons: Int) {}
}

extension CheckedPredicate {
    /// Names of all fields that the condition tests.
    var fields: Set<String> {
        switch self {
        case .all, .nothing: []
        case .test(let test): Set(test.fields)
        case .and(let parts), .or(let parts): parts.reduce(into: []) { $0.formUnion($1.fields) }
        }
    }

    func matches(_ values: some ConditionValues) -> Bool {
        switch self {
        case .all: true
        case .nothing: false
        case .test(let test): test.matches(values)
        case .and(let parts): parts.allSatisfy { $0.matches(values) }
        case .or(let parts): parts.contains { $0.matches(values) }
        }
    }
}

extension FieldTest {
    fileprivate func matches(_ values: some ConditionValues) -> Bool {
        self.isMet(by: values) != self.isNegated
    }

    private func isMet(by values: some ConditionValues) -> Bool {
        switch self.condition {
        case .anyToken(let tokens):
            values.count(comparisons: tokens.count)
            let there = values.tokens(of: self.fields)
            return tokens.contains { there.contains($0) }
        case .allTokens(let tokens):
            values.count(comparisons: tokens.count)
            let there = values.tokens(of: self.fields)
            return tokens.allSatisfy { there.contains($0) }
        case .anyOf, .allOf, .range, .prefix, .near:
            // A test that is not a search has one field.
            guard let field = self.fields.first, let elements = values.elements(of: field) else {
                values.count(comparisons: 1)
                return false
            }
            values.count(comparisons: self.condition.comparisons(with: elements.count))
            return self.condition.isMet(by: elements)
        }
    }
}

extension ValueCondition {
    /// Upper bound on the comparisons of the test; at least 1.
    fileprivate func comparisons(with elements: Int) -> Int {
        switch self {
        case .anyOf(let values): max(1, elements) * (Int.bitWidth - values.count.leadingZeroBitCount)
        case .allOf(let values): max(1, elements) + values.count
        case .range, .prefix, .near, .anyToken, .allTokens: max(1, elements)
        }
    }

    fileprivate func isMet(by elements: [ComparableValue]) -> Bool {
        switch self {
        case .anyOf(let values): elements.contains { values.containsSorted($0) }
        case .allOf(let values):
            if values.count < 8 || elements.count < 8 {
                values.allSatisfy { elements.contains($0) }
            } else {
                Set(elements).isSuperset(of: values)
            }
        case .range(let range): elements.contains { range.contains($0) }
        case .prefix(let prefix): elements.contains { $0.starts(with: prefix) }
        case .near(let centre, let metres):
            elements.contains { element in
                element.location.map { GreatCircle.metres(from: centre, to: $0) <= metres } ?? false
            }
        case .anyToken, .allTokens: false
        }
    }
}

extension ComparableValue {
    fileprivate func starts(with prefix: [UInt8]) -> Bool {
        guard case .bytes(let bytes) = self else { return false }
        return bytes.starts(with: prefix)
    }

    var location: Location? {
        guard case .coordinate(let latitude, let longitude) = self else { return nil }
        return Location(latitude: latitude, longitude: longitude)
    }
}

extension [ComparableValue] {
    /// Whether an ascending list contains the value.
    fileprivate func containsSorted(_ value: ComparableValue) -> Bool {
        var low = 0
        var high = self.count
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < value { low = middle + 1 } else { high = middle }
        }
        return low < self.count && self[low] == value
    }
}
