import RecordModel

/// What one request may cost the writer beyond its items and bytes.
///
/// An atomic request can't be cut into turns, so it is refused beyond a bound, before it has left
/// anything.
package enum WorkBound: Hashable, Sendable {
    case indexEntries
    case definitions
    case comparisons

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
        }
    }

    private var most: Int {
        switch self {
        case .indexEntries: Bounds.defaults.requestEntriesMax
        case .definitions: Bounds.defaults.requestDefinitionsMax
        case .comparisons: Bounds.defaults.requestComparisonsMax
        }
    }
}

/// What a request has cost so far, in the units of its bounds.
///
/// Counted from lengths that are at hand, so it costs a record two additions.
final class RequestWork {
    /// `nil` for what an operator restores.
    private let bounds: Bounds?
    /// Whether entries that go with an item count: a request of one item can't be made smaller by
    /// its sender.
    private let countsRemovals: Bool
    private var entries = 0
    private var definitions = 0

    init(_ bounds: Bounds?, countsRemovals: Bool) {
        self.bounds = bounds
        self.countsRemovals = countsRemovals
    }

    /// `isAlong`: whether the record is no item, but goes with one.
    func count(_ changes: IndexChanges, isAlong: Bool = false) throws(StorageFailure) {
        guard let bounds else { return }
        self.entries += changes.addedCost + (self.countsRemovals || isAlong ? changes.removedCost : 0)
        guard self.entries <= bounds.requestEntriesMax else {
            throw .exceeds(.indexEntries, work: self.entries)
        }
    }

    func count(definitions: Int) throws(StorageFailure) {
        guard let bounds else { return }
        self.definitions += definitions
        guard self.definitions <= bounds.requestDefinitionsMax else {
            throw .exceeds(.definitions, work: self.definitions)
        }
    }
}
