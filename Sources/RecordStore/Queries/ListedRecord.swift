import StorageContract

/// A record of a list.
struct ListedRecord {
    let number: Int64
    let offset: Int
    let records: any RecordList

    func read() throws(StorageFailure) -> NamedRecord? { try self.records.record(at: self.offset) }

    func visit(
        _ visit: (borrowing FeedRow) throws(FeedFailure) -> Bool
    ) throws(FeedFailure) -> Bool? {
        try self.records.visit(at: self.offset, visit)
    }
}
