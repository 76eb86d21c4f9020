import RecordModel
import StorageContract

/// Everything that a store has: a value, so that a snapshot is a copy.
struct StoreContents: Sendable {
    var tables = TableRows()
    var zones: [ZoneKey: ZoneContents] = [:]
    var lastRecord: Int64 = 0
    var lastIndex: Int64 = 0
}

/// What is stored under the key of a zone.
struct ZoneContents: Sendable {
    struct Record: Sendable {
        var name: String
        var stored: StoredRecord
        var createdPosition: Int64
    }

    struct Deletion: Sendable {
        var feed: FeedDeletion
        var deletedMilliseconds: Int64
    }

    var records = SortedMap<Int64, Record>()
    var numbers = SortedMap<Name, Int64>()
    /// The number of the record that has its last change at a position.
    var changes = SortedMap<Int64, Int64>()
    var deletions = SortedMap<Int64, Deletion>()
    /// The positions of deletions.
    var tombstones = SortedMap<Name, Int64>()
    /// By target and referrer.
    var references = SortedMap<Pair<Name, Name>, ReferenceKinds>()
    /// By index; value and record.
    var entries: [Int64: SortedMap<Pair<Values<UInt8>, Int64>, Void>] = [:]

    func record(named name: String) -> Record? { self.numbers[Name(name)].flatMap { self.records[$0] } }
}
