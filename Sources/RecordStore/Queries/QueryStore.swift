import RecordModel
import StorageContract

/// The reads of one page, with their counts.
final class QueryStore {
    private let snapshot: any Snapshot
    let meter: ReadMeter

    init(_ snapshot: any Snapshot, meter: ReadMeter) {
        self.snapshot = snapshot
        self.meter = meter
    }

    func entries(_ scan: EntryScan) throws(QueryFailure) -> Listed<EntryPosition> {
        let entries = try self.stored { (snapshot) throws(StorageFailure) in try snapshot.entries(scan) }
        try self.meter.countEntries(entries.elements.count)
        return entries
    }

    func numbers(_ scan: NumberScan) throws(QueryFailure) -> Listed<Int64> {
        let numbers = try self.stored { (snapshot) throws(StorageFailure) in try snapshot.numbers(scan) }
        try self.meter.countEntries(numbers.elements.count)
        return numbers
    }

    func countOfEntries(_ scan: EntryScan) throws(QueryFailure) -> Int {
        let count = try self.stored { (snapshot) throws(StorageFailure) in
            try snapshot.countOfEntries(scan)
        }
        try self.meter.countEntries(count)
        return count
    }

    func records(numbered numbers: [Int64], in zone: ZoneKey) -> any RecordList {
        self.snapshot.records(numbered: numbers, in: zone)
    }

    /// Returns `nil` if the record of the entry is gone: only a bug can leave such an entry behind.
    func record(_ listed: ListedRecord) throws(QueryFailure) -> NamedRecord? {
        let record = try self.stored { (_) throws(StorageFailure) in try listed.read() }
        try self.meter.countRecord(bytes: record?.stored.body.bytes.count ?? 0)
        return record
    }

    /// Visits a record where the engine has it.
    ///
    /// Returns what the visit does, or `nil` as `record` does.
    func visit(
        _ listed: ListedRecord,
        _ visit: (borrowing LentRecord) -> Bool
    ) throws(QueryFailure) -> Bool? {
        var bytes = 0
        let result: Bool?
        do throws(FeedFailure) {
            result = try listed.visit { (row: borrowing FeedRow) throws(FeedFailure) in
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
