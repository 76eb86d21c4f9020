import RecordModel

/// What one page of a query may cost.
package struct QueryBudget: Hashable, Sendable {
    /// Entries and records that a page looks at before it ends, with a position to go on from.
    package var readsMax = Bounds.queryReadsMax
    /// Comparisons after which a page ends in the same way: an entry may be compared with a predicate of hundreds.
    package var comparisonsMax = Bounds.queryComparisonsMax
    /// Candidates that are collected for an order that no index gives, and records with equal values of a sort key: such
    /// are read as a whole.
    package var collectedMax = Bounds.querySortMax
    /// Comparisons for what is read as a whole.
    package var collectedComparisonsMax = 5 * Bounds.queryComparisonsMax
    /// Entries that are counted of each source that a plan may choose; a source with as many is large.
    package var countedMax = 1_000
    /// Zones that are read side by side for an order.
    package var zonesMax = 1_000
    /// Encoded fields of all records of a page.
    package var answerBytesMax = Bounds.defaults.answerBytesMax
    /// Beyond it the query is broken off with `QueryFailure.tooLong`; `nil`: it may take what a page may.
    package var attempt: Attempt?

    /// What a query may take of the thread that tries it.
    package struct Attempt: Hashable, Sendable {
        package var readsMax: Int
        package var comparisonsMax: Int

        package init(readsMax: Int, comparisonsMax: Int) {
            self.readsMax = readsMax
            self.comparisonsMax = comparisonsMax
        }
    }

    package static let defaults = QueryBudget()

    package init() {}
}
