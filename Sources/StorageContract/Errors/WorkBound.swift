import RecordModel

/// The maximum cost of one request for the writer, beyond its items and bytes.
///
/// A request that can't be cut into turns is refused beyond a bound, before it has left anything.
@usableFromInline
package enum WorkBound: Hashable, Sendable {
    case indexEntries
    case definitions
    case comparisons
    case storedBytes
    case sharedRecords

    /// Why a request is refused, and what to do.
    var text: String {
        switch self {
        case .indexEntries:
            "the request changes more than \(self.most) index entries (request_entries_max): send fewer records "
                + "at a time, or take the index from fields with long lists"
        case .definitions:
            "the request adds more than \(self.most) fields and record types to the schema "
                + "(request_definitions_max): send fewer records at a time"
        case .comparisons:
            "the subscriptions have more than \(self.most) comparisons together (request_comparisons_max): "
                + "send fewer subscriptions at a time"
        case .storedBytes:
            "the records that the request changes or deletes have more than \(self.most) bytes together "
                + "(request_stored_bytes_max): send fewer records at a time, or keep large values in assets"
        case .sharedRecords:
            "more than \(self.most) records come under shares, or leave them (shared_tree_max): send fewer "
                + "shares at a time, or share the zone instead"
        }
    }

    private var most: Int {
        switch self {
        case .indexEntries: Bounds.defaults.requestEntriesMax
        case .definitions: Bounds.defaults.requestDefinitionsMax
        case .comparisons: Bounds.defaults.requestComparisonsMax
        case .storedBytes: Bounds.defaults.requestStoredBytesMax
        case .sharedRecords: Bounds.defaults.sharedTreeMax
        }
    }
}
