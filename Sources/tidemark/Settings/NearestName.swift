/// Finds what somebody meant who mistyped a name.
enum NearestName {
    /// The candidate with the fewest edits, the first of several.
    ///
    /// `nil` if none is near: within one edit for each three characters of the name, or with all of its words.
    static func to(_ name: String, among candidates: [String]) -> String? {
        let words = name.split(separator: "_")
        return candidates.map { ($0, self.edits($0, name)) }
            .filter { candidate, edits in
                edits <= (name.utf8.count + 2) / 3
                    || words.allSatisfy(candidate.split(separator: "_").contains)
            }
            .min { $0.1 < $1.1 }?.0
    }

    /// ` Did you mean 'NAME'?`, or nothing.
    static func suggestion(for name: String, among candidates: [String]) -> String {
        self.to(name, among: candidates).map { " Did you mean '\($0)'?" } ?? ""
    }

    /// Insertions, deletions, replacements and exchanges of neighbours that lead from one text to the other.
    ///
    /// - Source: Boytsov, *Indexing methods for approximate dictionary searching*: optimal string alignment.
    static func edits(_ left: String, _ right: String) -> Int {
        let left = Array(left.utf8)
        let right = Array(right.utf8)
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for i in left.indices {
            var row = [i + 1]
            for j in right.indices {
                var edits = min(last[j] + (left[i] == right[j] ? 0 : 1), last[j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
                    edits = min(edits, beforeLast[j - 1] + 1)
                }
                row.append(edits)
            }
            (beforeLast, last) = (last, row)
        }
        return last[right.count]
    }
}
