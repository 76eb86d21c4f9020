import RecordModel

/// Bounds of reads, as the operator has configured them.
package struct ReadRules: Hashable, Sendable {
    /// Encoded fields of all records of a response.
    package var responseBytesMax = Bounds.defaults.responseBytesMax
    /// The maximum number of records of a short read.
    package var shortRecordsMax = 16
    /// The budget of a query's page; `responseBytesMax` counts in place of the budget's own.
    package var queries = QueryBudget.defaults
    /// The budget of a query on the caller's thread, before it goes on elsewhere.
    ///
    /// Half a millisecond to a millisecond, whatever the query reads.
    package var queryAttempt = QueryBudget.Attempt(costMax: 4_096, comparisonsMax: 4_000)
    /// Maximum number of records, deletions and entries of the order of changes that a page of a
    /// feed reads.
    package var feedReadsMax = FeedBudget.defaults.readsMax
    /// Maximum bytes of the bodies that it reads.
    package var feedBytesReadMax = FeedBudget.defaults.bytesReadMax

    package init() {}

    /// Whether a query is tried on the caller's thread: it asks for fewer records than that may read.
    ///
    /// Others would mostly end there, too. But threads of the engine answer many of them before the
    /// connections' threads have to send, which takes less of both sides' processors.
    func mayAttempt(_ read: QueryRead) -> Bool {
        ReadMeter.cost(ofRecords: read.limit) < self.queryAttempt.costMax
    }

    func queryBudget(isAttempt: Bool) -> QueryBudget {
        var budget = self.queries
        budget.responseBytesMax = self.responseBytesMax
        budget.attempt = isAttempt ? self.queryAttempt : nil
        return budget
    }

    var feedBudget: FeedBudget {
        var budget = FeedBudget.defaults
        budget.responseBytesMax = self.responseBytesMax
        budget.readsMax = self.feedReadsMax
        budget.bytesReadMax = self.feedBytesReadMax
        return budget
    }
}
