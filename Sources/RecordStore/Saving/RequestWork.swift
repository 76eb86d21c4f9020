import RecordModel
import StorageContract

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
            throw .exceeds(.storedBytes, work: WorkUnits.ofBytes(self.storedBytes))
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
