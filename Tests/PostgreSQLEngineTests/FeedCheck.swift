/// A reader's view of a zone's order of changes, page by page, beside all that was acknowledged.
struct FeedCheck {
    private(set) var positions: [Int64] = []
    private(set) var faults: [String] = []

    var last: Int64 { self.positions.last ?? 0 }

    /// Takes a page of positions behind `last`.
    mutating func take(_ page: [Int64]) {
        for position in page {
            if position <= self.last { self.faults.append("\(position) behind \(self.last)") }
            self.positions.append(position)
        }
    }

    /// Faults, once everything that was acknowledged is committed and read.
    func faults(acknowledged: [Int64]) -> [String] {
        let seen = Set(self.positions)
        var faults = self.faults
        if seen.count != self.positions.count { faults.append("a position came twice") }
        if Set(acknowledged).count != acknowledged.count { faults.append("a position was given twice") }
        let missing = Set(acknowledged).subtracting(seen).sorted()
        if !missing.isEmpty { faults.append("\(missing.count) never came, the first at \(missing[0])") }
        let invented = seen.subtracting(acknowledged).sorted()
        if !invented.isEmpty { faults.append("\(invented.count) were acknowledged to nobody") }
        return faults
    }
}
