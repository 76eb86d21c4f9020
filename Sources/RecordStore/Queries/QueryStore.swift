import RecordModel

/// The reads of one page, with their counts.
final class QueryStore {
    private let snapshot: any Snapshot
    let meter: ReadMeter

    init(_ snapshot: any Snapshot, meter: ReadMeter) {
        self.snapshot = snapshot
        self.meter = meter
    }

    func entries(
        _ scan: EntryScan,
        of index: Int64,
        in zone: ZoneKey,
        limit: Int
    ) throws(QueryFailure) -> [EntryPosition] {
        let entries = try self.stored { (snapshot) throws(StorageFailure) in
            try snapshot.entries(scan, of: index, in: zone, limit: limit)
        }
        try self.meter.countEntries(entries.count)
        return entries
    }

    func records(
        having value: [UInt8],
        in index: Int64,
        of zone: ZoneKey,
        from number: Int64,
        limit: Int,
        leadsToRecords: Bool
    ) throws(QueryFailure) -> [Int64] {
        let numbers = try self.stored { (snapshot) throws(StorageFailure) in
            try snapshot.records(
                having: value,
                in: index,
                of: zone,
                from: number,
                limit: limit,
                leadsToRecords: leadsToRecords
            )
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
        let count = try self.stored { (snapshot) throws(StorageFailure) in
            try snapshot.countOfEntries(scan, of: index, in: zone, limit: limit)
        }
        try self.meter.countEntries(count)
        return count
    }

    /// Returns `nil` for an entry whose record is gone, which only a bug can leave behind.
    func record(_ key: RecordKey) throws(QueryFailure) -> NamedRecord? {
        let record = try self.stored { (snapshot) throws(StorageFailure) in try snapshot.record(key) }
        try self.meter.countRecord(bytes: record?.stored.body.bytes.count ?? 0)
        return record
    }

    /// Visits a record where the engine has it.
    ///
    /// Returns what the visit does, or `nil` as `record` does.
    func visit(_ key: RecordKey, _ visit: (borrowing LentRecord) -> Bool) throws(QueryFailure) -> Bool? {
        var bytes = 0
        let result: Bool?
        do throws(FeedFailure) {
            result = try self.snapshot.visitRecord(key) { (row: borrowing FeedRow) throws(FeedFailure) in
                bytes = row.record.fields.count
                return visit(row.record)
            }
        } catch {
            switch error {
            case .refused(let error): throw .refused(error)
            case .storage(let failure): throw .storage(failure)
            }
        }
        try self.meter.countRecord(bytes: bytes)
        return result
    }

    /// Reads that happen once per query and have their own bound.
    func stored<Value>(
        _ read: (any Snapshot) throws(StorageFailure) -> Value
    ) throws(QueryFailure) -> Value {
        do throws(StorageFailure) {
            return try read(self.snapshot)
        } catch {
            throw .storage(error)
        }
    }
}
