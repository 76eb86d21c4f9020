import RecordModel
import StorageContract

/// The entries of an index that can meet a condition.
struct ConditionRanges {
    enum Shape: Hashable, Sendable {
        /// Entries between bounds, ascending and disjoint.
        case ranges([EntryRange])
        /// Entries with one of these values, ascending.
        case any([[UInt8]])
        /// One entry for each of these values.
        case all([[UInt8]])
    }

    let shape: Shape
    /// Whether all these entries meet the condition.
    let isExact: Bool

    /// Fails if the index cannot help.
    init?(_ test: FieldTest) {
        guard !test.isNegated else { return nil }
        let isNumber = test.index?.isNumber ?? false
        switch test.condition {
        case .anyOf(let values):
            let entries = Self.entries(of: values, isNumber: isNumber)
            self.shape = .any(entries)
            self.isExact = entries.allSatisfy(\.isWhole) && values.allSatisfy { $0.location == nil }
        case .allOf(let values):
            guard !values.isEmpty else { return nil }
            let entries = Self.entries(of: values, isNumber: isNumber)
            self.shape = .all(entries)
            self.isExact = entries.allSatisfy(\.isWhole) && values.allSatisfy { $0.location == nil }
        case .range(let range):
            (self.shape, self.isExact) = Self.entries(between: range, isNumber: isNumber)
        case .prefix(let prefix):
            let known = prefix.prefix(IndexValue.bytesMax)
            self.shape = .ranges([.prefix(Array(known))])
            self.isExact = known.count == prefix.count
        case .near(let centre, let metres):
            self.shape = .ranges(LocationRanges.covering(centre, metres: metres))
            self.isExact = false
        case .anyToken(let tokens):
            self.shape = .any(tokens.sorted { $0.precedes($1) })
            // The entries do not tell which field has the word.
            self.isExact = test.isWholeText
        case .allTokens(let tokens):
            self.shape = .all(tokens.sorted { $0.precedes($1) })
            self.isExact = test.isWholeText
        }
    }

    /// In the order of the index, without repetition.
    ///
    /// For locations it is not the order of the values.
    private static func entries(of values: [ComparableValue], isNumber: Bool) -> [[UInt8]] {
        var entries: [[UInt8]] = []
        let all = values.map { $0.indexBytes(isNumber: isNumber) }
        for entry in all.sorted(by: { $0.precedes($1) }) where entries.last != entry {
            entries.append(entry)
        }
        return entries
    }

    private static func entries(between range: ValueRange, isNumber: Bool) -> (Shape, isExact: Bool) {
        var entries = EntryRange.all
        var isExact = true
        if let lower = range.lower {
            let bytes = lower.value.indexBytes(isNumber: isNumber)
            // The bytes that were cut off may come before or after the bound.
            isExact = bytes.isWhole
            entries.lower = bytes.isWhole && !lower.isIncluded ? bytes + [0] : bytes
        }
        if let upper = range.upper {
            let bytes = upper.value.indexBytes(isNumber: isNumber)
            isExact = isExact && bytes.isWhole
            entries.upper = bytes.isWhole && !upper.isIncluded ? bytes : bytes + [0]
        }
        return (.ranges(entries.isEmpty ? [] : [entries]), isExact)
    }
}

extension ComparableValue {
    /// In the encoding of the field's index.
    func indexBytes(isNumber: Bool) -> [UInt8] {
        switch self {
        case .bytes(let bytes): IndexValue.bytes(bytes)
        case .integer(let integer) where isNumber: IndexValue.number(integer)
        case .integer(let integer): IndexValue.int64(integer)
        case .double(let double): IndexValue.double(double)
        case .coordinate(let latitude, let longitude):
            IndexValue.location(Location(latitude: latitude, longitude: longitude))
        }
    }
}

extension [UInt8] {
    /// Whether nothing was cut off for the index.
    fileprivate var isWhole: Bool { self.count < IndexValue.bytesMax }
}
