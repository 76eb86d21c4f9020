/// Finds the intended name for a mistyped one.
enum NearestName {
    /// The candidate with the fewest edits, or the first of several.
    ///
    /// `nil` if none is near: one edit is permitted for each three characters of the name, and a
    /// candidate that has all of its words counts as near.
    static func to(_ name: String, among candidates: [String]) -> String? {
        let words = name.split(separator: "_")
        return candidates.map { ($0, self.edits($0, name)) }
            .filter { candidate, edits in
                edits <= (name.utf8.count + 2) / 3
                    || words.allSatisfy(candidate.split(separator: "_").contains)
            }
            .min { $0.1 < $1.1 }?.0
    }

    /// ` Did you mean 'NAME'?`, or an empty text.
    static func suggestion(for name: String, among candidates: [String]) -> String {
        self.to(name, among: candidates).map { " Did you mean '\($0)'?" } ?? ""
    }

    /// The number of insertions, deletions, replacements and exchanges of neighbours that turn one
    /// text into the other.
    ///
    /// - Source: Boytsov, *Indexing methods for approximate dictionary searching*: optimal string
    ///   alignment.
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
