import RecordModel

/// The maximum cost of one request for the writer, beyond its items and bytes.
///
/// A request that can't be cut into turns is refused beyond a bound, before it has left anything.
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

/// The cost of a request up to now, in the units of its bounds.
///
/// Counted from lengths that are at hand, so it costs a record two additions.
final class RequestWork {
    /// `nil` for records that an operator restores.
    private let bounds: Bounds?
    /// Whether the stored entries and body of an item count: the sender of a request of one item
    /// cannot make it smaller.
    private let countsStored: Bool
    private var entries = 0
    private var definitions = 0
    private var storedBytes = 0
    /// By zone: items are judged more than once.
    private var sharedRecords: [ZoneKey: Int] = [:]

    init(_ bounds: Bounds?, countsStored: Bool) {
        self.bounds = bounds
        self.countsStored = countsStored
    }

    /// `isAlong`: whether the record is no item, but goes with one.
    func count(_ changes: IndexChanges, isAlong: Bool = false) throws(StorageFailure) {
        guard let bounds else { return }
        self.entries += changes.addedCost + (self.countsStored || isAlong ? changes.removedCost : 0)
        guard self.entries <= bounds.requestEntriesMax else {
            throw .exceeds(.indexEntries, work: self.entries)
        }
    }

    /// Bytes of bodies that may still be read; at least one record is.
    var storedBytesLeft: Int {
        guard let bounds, self.countsStored else { return .max }
        return bounds.requestStoredBytesMax - self.storedBytes
    }

    func count(storedBytes: Int) throws(StorageFailure) {
        guard self.storedBytesLeft < .max else { return }
        self.storedBytes += storedBytes
        guard self.storedBytesLeft >= 0 else {
            throw .exceeds(.storedBytes, work: OverloadRule.work(ofBytes: self.storedBytes))
        }
    }

    /// Forgets the bodies that were read: the items are judged again.
    func clear() { self.storedBytes = 0 }

    /// Notes how many records of a zone come under shares, or leave them.
    func set(sharedRecords: Int, of zone: ZoneKey) throws(StorageFailure) {
        guard let bounds else { return }
        self.sharedRecords[zone] = sharedRecords
        let count = self.sharedRecords.values.reduce(0, +)
        guard count <= bounds.sharedTreeMax else { throw .exceeds(.sharedRecords, work: count) }
    }

    func count(definitions: Int) throws(StorageFailure) {
        guard let bounds else { return }
        self.definitions += definitions
        guard self.definitions <= bounds.requestDefinitionsMax else {
            throw .exceeds(.definitions, work: self.definitions)
        }
    }
}
