/// The index entries that a change of one record adds and removes.
///
/// Only values that differ are touched. A type without indexes on user fields costs no look at the
/// bodies.
package struct IndexChanges: Hashable, Sendable {
    package var removed: [IndexEntry] = []
    package var added: [IndexEntry] = []
    /// Words among them.
    package var wordsRemoved = 0
    package var wordsAdded = 0

    /// The cost of the entries: four words of full text are estimated as one element of a list.
    package var removedCost: Int {
        self.removed.count - self.wordsRemoved + self.wordsRemoved / Self.wordsOfEntry
    }
    package var addedCost: Int { self.added.count - self.wordsAdded + self.wordsAdded / Self.wordsOfEntry }

    private static let wordsOfEntry = 4

    /// No entry changes.
    package static let none = IndexChanges()

    package init() {}
}
