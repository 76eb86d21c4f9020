package import RecordModel

/// One page of a query.
package struct QueryRead: Hashable, Sendable {
    package var query: Query
    /// `nil` for all zones of the database.
    package var zone: ZoneID?
    /// The end of an earlier page of the same query and zone, or `nil` to start.
    ///
    /// May be any bytes: an invalid position fails with `cursorInvalid`.
    package var resume: [UInt8]?
    /// `nil` for all fields; an empty list for none.
    package var desiredKeys: [String]?
    /// Records per page, 1…`Bounds.queryPageMax`.
    ///
    /// Ignored for a count.
    package var limit: Int
    /// Whether the result is a number instead of records.
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

/// The result of a page.
package struct QueryPageResult: Sendable {
    /// Number of records that the sink got: at most the limit.
    ///
    /// Fewer, or none, do not mean the end.
    package var recordCount: Int
    /// For a count: the number of records that this page found.
    ///
    /// The total is the sum over all pages.
    package var count: Int64
    /// The position at which the next page starts, or `nil` if there is none.
    package var resume: [UInt8]?
    package var plan: QueryPlan
    /// User fields that the query may have meant: it named system fields with the same names.
    package var hiddenFields: [String]
    package var entriesRead: Int
    package var recordsRead: Int
    /// As `ComparisonCost` counts them.
    package var comparisons: Int
}
