/// The uses of a field's index, as the CloudKit Schema Language names them.
package struct IndexKinds: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    /// Filters: equality, ranges, prefixes, membership, distance.
    package static let queryable = IndexKinds(rawValue: 1 << 0)
    /// Order and ranges.
    package static let sortable = IndexKinds(rawValue: 1 << 1)
    /// Full text.
    package static let searchable = IndexKinds(rawValue: 1 << 2)

    package init(rawValue: UInt8) { self.rawValue = rawValue }
}
