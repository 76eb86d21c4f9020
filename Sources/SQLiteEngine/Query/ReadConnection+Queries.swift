import RecordModel
import RecordStore

/// Reads of queries within a snapshot.
extension ReadConnection {
    func entries(
        _ scan: EntryScan,
        of index: Int64,
        in zone: ZoneKey,
        limit: Int
    ) throws(StorageFailure) -> [EntryPosition] {
        try self.entryReader.entries(scan, of: index, in: zone, limit: limit)
    }

    func records(
        having value: [UInt8],
        in index: Int64,
        of zone: ZoneKey,
        from number: Int64,
        limit: Int,
        leadsToRecords: Bool
    ) throws(StorageFailure) -> [Int64] {
        try self.entryReader.records(having: value, in: index, of: zone, from: number, limit: limit)
    }

    func countOfEntries(
        _ scan: EntryScan,
        of index: Int64,
        in zone: ZoneKey,
        limit: Int
    ) throws(StorageFailure) -> Int {
        try self.entryReader.countOfEntries(scan, of: index, in: zone, limit: limit)
    }
}
