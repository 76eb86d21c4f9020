import StorageContract

extension EntryRange {
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

    /// Intersects two lists.
    ///
    /// Each is ascending and disjoint.
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
