import RecordModel

/// The cost of testing conditions on a record, in comparisons of a small value.
///
/// It is an upper bound, as if no condition decided before the others are tested. It is known
/// before anything is compared and, except for the sizes of values, before a record is read.
struct ComparisonCost {
    private let interest: FieldsOfInterest
    /// Cost that does not depend on the values.
    private var comparisons = 0
    /// By slot: tests of the value as a whole, or of each element of a list.
    private var valueTests: [Int]
    /// By slot: tests that split the text into words.
    private var wordTests: [Int]

    /// Number of bytes that take as long as a comparison: of a value, of a list, and of a text that
    /// is split.
    private static let valueBytes = 1_024
    private static let listBytes = 16
    private static let wordBytes = 16

    /// Starts with no cost.
    init(_ interest: FieldsOfInterest) {
        self.interest = interest
        self.valueTests = [Int](repeating: 0, count: interest.count)
        self.wordTests = self.valueTests
    }

    mutating func add(_ predicate: CheckedPredicate) {
        switch predicate {
        case .all, .nothing: return
        case .test(let test): self.add(test)
        case .and(let parts), .or(let parts): for part in parts { self.add(part) }
        }
    }

    /// Adds a search of every value of the record's entries in this number of ranges.
    mutating func add(_ index: IndexUse, rangeCount: Int) {
        self.comparisons += rangeCount
        let isText = index.field == SystemField.allText.rawValue
        for slot in index.sources.compactMap({ self.interest.slot(of: $0) }) {
            self.valueTests[slot] += rangeCount
            if isText { self.wordTests[slot] += 1 }
        }
    }

    private mutating func add(_ test: FieldTest) {
        let weight = test.condition.weight
        self.comparisons += weight
        for slot in test.fields.compactMap({ self.interest.slot(of: $0) }) {
            switch test.condition {
            case .anyToken, .allTokens: self.wordTests[slot] += 1
            case .anyOf, .allOf, .range, .prefix, .near: self.valueTests[slot] += weight
            }
        }
    }

    func comparisons(with values: RecordValues) -> Int {
        guard self.comparisons > 0 else { return 0 }
        var sum = self.comparisons
        for slot in self.valueTests.indices {
            guard let size = values.size(inSlot: slot) else { continue }
            sum += self.valueTests[slot] * (size.bytes / (size.isList ? Self.listBytes : Self.valueBytes))
            sum += self.wordTests[slot] * (size.bytes / Self.wordBytes)
        }
        return sum
    }
}

extension ValueCondition {
    /// Number of comparisons per value.
    fileprivate var weight: Int {
        switch self {
        // Binary search.
        case .anyOf(let values): max(1, Int.bitWidth - values.count.leadingZeroBitCount)
        case .allOf(let values): max(1, values.count)
        case .range, .prefix, .near: 1
        case .anyToken(let tokens), .allTokens(let tokens): max(1, tokens.count)
        }
    }
}
