package import StorageContract

/// How a query is executed.
package struct QueryPlan: Hashable, Sendable {
    package enum Order: Hashable, Sendable {
        /// The order of the source.
        case source(QuerySource)
        /// The source is read to its end, and the first records of the order are kept.
        case collected(QuerySource)
        /// The order of the sort keys' indexes.
        ///
        /// Records with the first field come first, then those of the others with the second field,
        /// and so on. Records without any come last, by name. Without `hasOthers`, all records of
        /// the query have the first field.
        case index(firstRanges: [EntryRange], hasOthers: Bool)
    }

    package var order: Order
    /// The condition on candidates; `all` if the source has no others.
    package var filter: CheckedPredicate
}
