import RecordModel

/// Names of records in the order in which they came, and their places.
///
/// Names are mostly asked for in that order, or not at all. So an index is made once it is needed.
struct IndexedNames {
    private var names: [String] = []
    /// Of the first names.
    private var places: [ExactName: Int] = [:]
    private var indexedCount = 0
    /// The place behind the last one that was asked for in order.
    private var next = 0

    subscript(place: Int) -> String { self.names[place] }

    mutating func append(_ name: String) { self.names.append(name) }

    /// The last place of a name; `nil` if it did not come.
    mutating func lastPlace(of name: String) -> Int? {
        while self.indexedCount < self.names.count {
            self.places[ExactName(self.names[self.indexedCount])] = self.indexedCount
            self.indexedCount += 1
        }
        return self.places[ExactName(name)]
    }

    /// A place of a name: the next one while names are asked for in their order; `nil` if it did not come.
    mutating func anyPlace(of name: String) -> Int? {
        if self.next < self.names.count, ExactName.areSame(self.names[self.next], name) {
            self.next += 1
            return self.next - 1
        }
        guard let place = self.lastPlace(of: name) else { return nil }
        self.next = place + 1
        return place
    }
}
