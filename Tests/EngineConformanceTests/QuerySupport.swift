import RecordModel
import RecordStore
import Synchronization

/// A page of a query with its records.
@dynamicMemberLookup
struct FoundPage: Sendable {
    var page: QueryPageResult
    var records: [Record]

    subscript<Value>(dynamicMember part: KeyPath<QueryPageResult, Value>) -> Value {
        self.page[keyPath: part]
    }
}

final class KeptRecords: RecordSink {
    let records = Mutex<[Record]>([])

    func add(_ record: borrowing LentRecord, in zone: ZoneID) {
        let record = record.record(in: zone)
        self.records.withLock { $0.append(record) }
    }

    func removeAll() { self.records.withLock { $0 = [] } }
}
