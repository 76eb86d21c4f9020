/// Finds what somebody meant who mistyped a name.
enum NearestName {
    /// The candidate with the fewest edits, the first of several; `nil` without candidates.
    static func to(_ name: String, among candidates: [String]) -> String? {
        candidates.min { self.edits($0, name) < self.edits($1, name) }
    }

    /// Insertions, deletions and replacements that lead from one text to the other.
    static func edits(_ left: String, _ right: String) -> Int {
        let right = Array(right.utf8)
        var row = Array(0...right.count)
        for (i, byte) in left.utf8.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for j in right.indices {
                let replaced = diagonal + (byte == right[j] ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(replaced, row[j] + 1, diagonal + 1)
            }
        }
        return row[right.count]
    }
}
