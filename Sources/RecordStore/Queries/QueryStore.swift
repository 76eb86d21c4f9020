/// Reads for one page: what an engine has, counted.
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

    /// `nil`: an entry was left behind by a record that is gone, which only a fault of ours can do.
    func record(numbered number: Int64) throws(QueryFailure) -> NamedRecord? {
        try self.meter.countRecord()
        return try self.stored { (reader) throws(StorageFailure) in try reader.record(numbered: number) }
    }

    /// What is read once a query and bounded by itself.
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
