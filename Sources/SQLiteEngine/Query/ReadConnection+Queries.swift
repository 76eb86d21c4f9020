import RecordModel
import StorageContract

/// Reads of queries within a snapshot.
extension ReadConnection {
    func entries(_ scan: EntryScan) throws(StorageFailure) -> Listed<EntryPosition> {
        self.listed(try self.entryReader.entries(scan), scan)
    }

    func numbers(_ scan: NumberScan) throws(StorageFailure) -> Listed<Int64> {
        self.listed(try self.entryReader.numbers(scan), scan)
    }

    func countOfEntries(_ scan: EntryScan) throws(StorageFailure) -> Int {
        try self.entryReader.countOfEntries(scan)
    }
}
