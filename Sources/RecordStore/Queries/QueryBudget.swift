import RecordModel

/// What one page of a query may cost.
package struct QueryBudget: Hashable, Sendable {
    /// Entries and records that a page looks at before it ends, with a position to go on from.
    package var readsMax = 20_000
    /// Candidates that are collected for an order that no index gives, and records with equal values of a sort key: such
    /// are read as a whole.
    package var collectedMax = 100_000
    /// Entries that are counted of each source that a plan may choose; a source with as many is large.
    package var countedMax = 1_000
    /// Zones that are read side by side for an order.
    package var zonesMax = 1_000
    /// Encoded fields of all records of a page.
    package var answerBytesMax = Bounds.defaults.answerBytesMax
    /// Reads after which the query is broken off with `QueryFailure.tooLong`; `nil`: none.
    package var attemptMax: Int?

    package static let defaults = QueryBudget()

    package init() {}
}
