import RecordModel
package import StorageContract

/// Bounds on the cost of one page of a query.
package struct QueryBudget: Hashable, Sendable {
    /// Entries and records after which a page ends, with a position to continue from.
    package var readsMax = Bounds.queryReadsMax
    /// Bytes of bodies after which a page ends in the same way.
    package var bytesReadMax = Bounds.pageReadBytesMax
    /// Comparisons after which a page ends in the same way.
    ///
    /// An entry may be compared with a predicate of hundreds of parts.
    package var comparisonsMax = Bounds.queryComparisonsMax
    /// Bound on records that are read as a whole: candidates for an order that no index gives, and
    /// records with equal sort keys.
    package var collectedMax = Bounds.querySortMax
    /// Bound on the bytes of bodies that are read as a whole.
    package var collectedBytesMax = Bounds.querySortBytesMax
    /// Bound on the comparisons of records that are read as a whole.
    package var collectedComparisonsMax = 5 * Bounds.queryComparisonsMax
    /// Entries that are counted per source when a plan is chosen.
    ///
    /// A source with as many is large.
    package var countedMax = 1_000
    /// Zones that are read in parallel for an order.
    package var zonesMax = 1_000
    /// Bound on the encoded fields of all records of a page.
    package var responseBytesMax = Bounds.defaults.responseBytesMax
    /// Beyond it the query ends with `QueryFailure.tooLong`.
    ///
    /// If `nil`, it may take as much as a page.
    package var attempt: Attempt?

    /// Bounds on the cost of a query for the thread that tries it.
    package struct Attempt: Hashable, Sendable {
        /// As `ReadMeter.Weight` weighs reads: a unit is an entry.
        package var costMax: Int
        package var comparisonsMax: Int

        package init(costMax: Int, comparisonsMax: Int) {
            self.costMax = costMax
            self.comparisonsMax = comparisonsMax
        }
    }

    package static let defaults = QueryBudget()

    package init() {}
}

/// Why a query has no result.
package enum QueryFailure: Error, Hashable, Sendable {
    case refused(StoreError)
    case storage(StorageFailure)
    /// The query needs more reads than the caller's thread may spend on it.
    case tooLong
}
