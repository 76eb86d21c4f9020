/// How a query is answered.
package struct QueryPlan: Hashable, Sendable {
    package enum Order: Hashable, Sendable {
        /// As the source has it.
        case source(QuerySource)
        /// The source is read to its end, and the first of the order are taken.
        case collected(QuerySource)
        /// An index a sort key gives the order: first the records that have the first field, then of the others those that have the
        /// second, at last those without any by name.
        ///
        /// Without `hasOthers` the condition excludes all but the first.
        case index(firstRanges: [EntryRange], hasOthers: Bool)
    }

    package var order: Order
    /// What a candidate must meet; `all` when the source has none that does not.
    package var filter: CheckedPredicate
}
