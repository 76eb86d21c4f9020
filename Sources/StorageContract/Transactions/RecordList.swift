/// Records of one zone in the order of a list, in which a rule reads them.
///
/// An engine to which each question is a round trip has some of them with the list, and reads others
/// along with the one that is asked for. It keeps a bounded number of bytes. A list is valid as long as
/// its snapshot, and is used by the same thread.
package protocol RecordList: AnyObject {
    /// Reads the record at an offset of the list; `nil` if there is none in the zone.
    func record(at offset: Int) throws(StorageFailure) -> NamedRecord?
    /// Visits the record at an offset of the list and returns what the visit does; `nil` if there is
    /// none in the zone.
    ///
    /// Visits in the order of record numbers should cost less than others: feeds make thousands.
    func visit(
        at offset: Int,
        _ visit: (borrowing FeedRow) throws(FeedFailure) -> Bool
    ) throws(FeedFailure) -> Bool?
}

/// A list, with the record of each element at the same offset, if that was wanted.
package struct Listed<Element> {
    package let elements: [Element]
    package let records: (any RecordList)?

    package init(_ elements: [Element], _ records: (any RecordList)? = nil) {
        self.elements = elements
        self.records = records
    }
}

/// A snapshot in which records cost the same one by one as together: it brings a read of one in place
/// of lists.
package protocol LocalSnapshot: Snapshot {
    /// Reads one record by key; `nil` also if the record with that number is in another zone.
    func storedRecord(_ key: RecordKey) throws(StorageFailure) -> NamedRecord?
    /// Visits one record and returns what the visit does; `nil` if there is none in the zone.
    func visitRecord(
        _ key: RecordKey,
        _ visit: (borrowing FeedRow) throws(FeedFailure) -> Bool
    ) throws(FeedFailure) -> Bool?
}

extension LocalSnapshot {
    package func records(numbered numbers: [Int64], in zone: ZoneKey) -> any RecordList {
        LocalRecords(numbers: numbers, zone: zone, snapshot: self)
    }

    package func listed(
        _ entries: [EntryPosition],
        _ scan: EntryScan
    ) -> Listed<EntryPosition> {
        Listed(
            entries,
            scan.hasRecords ? self.records(numbered: entries.map(\.record), in: scan.zone) : nil
        )
    }

    package func listed(_ numbers: [Int64], _ scan: NumberScan) -> Listed<Int64> {
        Listed(numbers, scan.hasRecords ? self.records(numbered: numbers, in: scan.zone) : nil)
    }
}

/// Records that are read one by one.
private final class LocalRecords<Reader: LocalSnapshot>: RecordList {
    private let numbers: [Int64]
    private let zone: ZoneKey
    private let snapshot: Reader

    init(numbers: [Int64], zone: ZoneKey, snapshot: Reader) {
        self.numbers = numbers
        self.zone = zone
        self.snapshot = snapshot
    }

    private func key(_ offset: Int) -> RecordKey { RecordKey(zone: self.zone, number: self.numbers[offset]) }

    func record(at offset: Int) throws(StorageFailure) -> NamedRecord? {
        try self.snapshot.storedRecord(self.key(offset))
    }

    func visit(
        at offset: Int,
        _ visit: (borrowing FeedRow) throws(FeedFailure) -> Bool
    ) throws(FeedFailure) -> Bool? {
        try self.snapshot.visitRecord(self.key(offset), visit)
    }
}
