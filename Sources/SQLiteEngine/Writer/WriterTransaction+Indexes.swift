import GRDBSQLite
import RecordModel
import RecordStore

/// Entries of indexes, and the numbers of indexes.
extension WriterTransaction {
    /// Has the entries of one record written before the end of the transaction.
    func change(
        _ entries: IndexChanges,
        of record: Int64,
        in zone: ZoneKey
    ) throws(StorageFailure) {
        for entry in entries.removed {
            try self.queue(EntryQueue.Change(zone: zone, entry: entry, record: record, isAdded: false))
        }
        for entry in entries.added {
            try self.queue(EntryQueue.Change(zone: zone, entry: entry, record: record, isAdded: true))
        }
    }

    private func queue(_ change: EntryQueue.Change) throws(StorageFailure) {
        self.workDone += 1
        self.entries.append(change)
        if self.entries.isFull { try self.writeEntries() }
    }

    /// Writes the changes of entries that wait, which nothing in a transaction reads before its end.
    func writeEntries() throws(StorageFailure) {
        guard !self.entries.isEmpty else { return }
        let statements = self.statements.indexes
        try self.entries.drain { (change) throws(StorageFailure) in
            let statement = change.isAdded ? statements.add : statements.remove
            statement.bind(1, change.zone.database.rawValue)
            statement.bind(2, change.zone.number)
            statement.bind(3, change.entry.index)
            statement.bind(5, change.record)
            try statement.run(bytes: change.entry.value, at: 4)
            // An entry that was there stays one, and one may be absent that is to go.
            guard statement.changesCount > 0 else { return }
            let bytes = RowBytes.entry(change.entry)
            self.changes.count(rowBytes: change.isAdded ? bytes : -bytes, in: change.zone)
        }
    }

    func takeIndexNumbers(_ count: Int) throws(StorageFailure) -> Int64 {
        let statement = self.statements.indexes.takeNumbers
        statement.bind(1, Int64(count))
        guard try statement.step() else { throw .unexpected(code: SQLITE_NOTFOUND) }
        defer { statement.reset() }
        return statement.integer(0) - Int64(count) + 1
    }
}
