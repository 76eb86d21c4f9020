import RecordModel

/// Names of records in the order in which they came, and their indices.
///
/// Names are mostly asked for in that order, or not at all. So an index is made once it is needed.
struct IndexedNames {
    private var names: [String] = []
    /// Of the first names.
    private var indices: [ExactName: Int] = [:]
    private var indexedCount = 0
    /// The index behind the last one that was asked for in order.
    private var next = 0

    subscript(index: Int) -> String { self.names[index] }

    mutating func append(_ name: String) { self.names.append(name) }

    /// The last index of a name; `nil` if it did not come.
    mutating func lastIndex(of name: String) -> Int? {
        while self.indexedCount < self.names.count {
            self.indices[ExactName(self.names[self.indexedCount])] = self.indexedCount
            self.indexedCount += 1
        }
        return self.indices[ExactName(name)]
    }

    /// An index of a name: the next one while names are asked for in their order; `nil` if it did not come.
    mutating func anyIndex(of name: String) -> Int? {
        if self.next < self.names.count, ExactName.areSame(self.names[self.next], name) {
            self.next += 1
            return self.next - 1
        }
        guard let index = self.lastIndex(of: name) else { return nil }
        self.next = index + 1
        return index
    }
}
