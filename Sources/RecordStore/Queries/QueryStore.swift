/// The reads of one page, with their counts.
final class QueryStore {
    private let reader: any QueryReader
    let meter: ReadMeter

    init(_ reader: any QueryReader, meter: ReadMeter) {
        self.reader = reader
        self.meter = meter
    }

    func entries(
        _ scan: EntryScan,
        of index: Int64,
        in zone: ZoneKey,
        limit: Int
    ) throws(QueryFailure) -> [EntryPlace] {
        let entries = try self.stored { (reader) throws(StorageFailure) in
            try reader.entries(scan, of: index, in: zone, limit: limit)
        }
        try self.meter.countEntries(entries.count)
        return entries
    }

    func records(
        having value: [UInt8],
        in index: Int64,
        of zone: ZoneKey,
        from number: Int64,
        limit: Int
    ) throws(QueryFailure) -> [Int64] {
        let numbers = try self.stored { (reader) throws(StorageFailure) in
            try reader.records(having: value, in: index, of: zone, from: number, limit: limit)
        }
        try self.meter.countEntries(numbers.count)
        return numbers
    }

    func countOfEntries(
        _ scan: EntryScan,
        of index: Int64,
        in zone: ZoneKey,
        limit: Int
    ) throws(QueryFailure) -> Int {
        let count = try self.stored { (reader) throws(StorageFailure) in
            try reader.countOfEntries(scan, of: index, in: zone, limit: limit)
        }
        try self.meter.countEntries(count)
        return count
    }

    /// Returns `nil` for an entry whose record is gone, which only a bug can leave behind.
    func record(numbered number: Int64) throws(QueryFailure) -> NamedRecord? {
        try self.meter.countRecord()
        return try self.stored { (reader) throws(StorageFailure) in try reader.record(numbered: number) }
    }

    /// Reads that happen once per query and have their own bound.
    func stored<Answer>(
        _ read: (any QueryReader) throws(StorageFailure) -> Answer
    ) throws(QueryFailure) -> Answer {
        do throws(StorageFailure) {
            return try read(self.reader)
        } catch {
            throw .storage(error)
        }
    }
}
