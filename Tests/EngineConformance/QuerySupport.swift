import RecordModel
import RecordStore
import StorageContract
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

    private let zone = Mutex(ZoneID(zoneName: "none"))

    func enter(_ zone: ZoneID) { self.zone.withLock { $0 = zone } }

    func add(_ record: borrowing LentRecord) {
        let record = record.record(in: self.zone.withLock { $0 })
        self.records.withLock { $0.append(record) }
    }

    func removeAll() { self.records.withLock { $0 = [] } }
}
