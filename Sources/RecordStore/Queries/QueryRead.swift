package import RecordModel

/// One page of a query.
package struct QueryRead: Hashable, Sendable {
    package var query: Query
    /// `nil`: all zones of the database.
    package var zone: ZoneID?
    /// Where an answer to the same query and zone ended; `nil`: from the start.
    ///
    /// May be any bytes: what is not a position is refused with `cursorInvalid`.
    package var resume: [UInt8]?
    /// `nil`: all fields; empty: none.
    package var desiredKeys: [String]?
    /// Records of the page, 1…`Bounds.queryPageMax`; of no meaning for a count.
    package var limit: Int
    /// Answers with a number instead of records.
    package var isCount: Bool

    package init(
        query: Query,
        zone: ZoneID? = nil,
        resume: [UInt8]? = nil,
        desiredKeys: [String]? = nil,
        limit: Int = Bounds.queryPageMax,
        isCount: Bool = false
    ) {
        self.query = query
        self.zone = zone
        self.resume = resume
        self.desiredKeys = desiredKeys
        self.limit = limit
        self.isCount = isCount
    }
}

/// What a page has.
package struct QueryAnswer: Sendable {
    /// At most the limit; fewer, or none, say nothing about the end.
    package var records: [Record]
    /// Of a count: how many records this page found; the sum over all pages is the answer.
    package var count: Int64
    /// Where the next page starts; `nil`: there is none.
    package var resume: [UInt8]?
    package var plan: QueryPlan
    /// Fields of the type that the query may have meant, and did not: it named the system's of the same name.
    package var hiddenFields: [String]
    package var entriesRead: Int
    package var recordsRead: Int
    /// As `ComparisonCost` counts them.
    package var comparisons: Int
}
