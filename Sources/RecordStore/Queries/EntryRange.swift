/// Index values from `lower` on, up to but without `upper`.
///
/// Values are compared byte by byte, so the least value that is greater than another is that one with a zero behind it.
package struct EntryRange: Hashable, Sendable {
    package var lower: [UInt8]
    /// `nil`: no end.
    package var upper: [UInt8]?

    package init(lower: [UInt8], upper: [UInt8]?) {
        self.lower = lower
        self.upper = upper
    }

    package static let all = EntryRange(lower: [], upper: nil)

    package static func point(_ value: [UInt8]) -> EntryRange {
        EntryRange(lower: value, upper: value + [0])
    }

    static func prefix(_ prefix: [UInt8]) -> EntryRange {
        EntryRange(lower: prefix, upper: IndexValue.end(ofPrefix: prefix))
    }

    func contains(_ value: [UInt8]) -> Bool {
        guard !value.precedes(self.lower) else { return false }
        return self.upper.map { value.precedes($0) } ?? true
    }

    var isEmpty: Bool { self.upper.map { !self.lower.precedes($0) } ?? false }

    func intersection(_ other: EntryRange) -> EntryRange {
        let lower = self.lower.precedes(other.lower) ? other.lower : self.lower
        guard let ours = self.upper, let theirs = other.upper else {
            return EntryRange(lower: lower, upper: self.upper ?? other.upper)
        }
        return EntryRange(lower: lower, upper: ours.precedes(theirs) ? ours : theirs)
    }

    /// Both lists ascend and none of their ranges meets another of its list.
    static func intersection(_ left: [EntryRange], _ right: [EntryRange]) -> [EntryRange] {
        var both: [EntryRange] = []
        for range in left {
            for other in right {
                let common = range.intersection(other)
                if !common.isEmpty { both.append(common) }
            }
        }
        return both
    }
}

extension [UInt8] {
    func precedes(_ other: [UInt8]) -> Bool { self.lexicographicallyPrecedes(other) }
}
