import GRDBSQLite
import RecordModel
import RecordStore

/// Entries of indexes, and the numbers of indexes.
final class WriterEntries {
    private var queue = EntryQueue()
    private let statements: IndexStatements
    private let order: ChangeOrder
    private let meter: WorkMeter

    init(
        _ connection: OpaquePointer,
        order: ChangeOrder,
        meter: WorkMeter
    ) throws(StorageFailure) {
        self.statements = try IndexStatements(connection)
        self.order = order
        self.meter = meter
    }

    /// Bytes that entries which wait may add to the file.
    var bytesMax: Int64 { self.queue.bytesMax }
    var isEmpty: Bool { self.queue.isEmpty }

    /// Has the entries of one record written before the end of the transaction.
    func change(
        _ entries: IndexChanges,
        of record: Int64,
        in zone: ZoneKey
    ) throws(StorageFailure) {
        for entry in entries.removed {
            try self.append(EntryQueue.Change(zone: zone, entry: entry, record: record, isAdded: false))
        }
        try self.add(entries.added, of: record, in: zone)
    }

    /// Has entries of one record added before the end of the transaction.
    func add(_ entries: [IndexEntry], of record: Int64, in zone: ZoneKey) throws(StorageFailure) {
        for entry in entries {
            try self.append(EntryQueue.Change(zone: zone, entry: entry, record: record, isAdded: true))
        }
    }

    private func append(_ change: EntryQueue.Change) throws(StorageFailure) {
        self.meter.done += 1
        self.queue.append(change)
        if self.queue.isFull { try self.write() }
    }

    /// Writes the changes of entries that wait, which nothing in a transaction reads before its end.
    func write() throws(StorageFailure) {
        guard !self.queue.isEmpty else { return }
        let (statements, order) = (self.statements, self.order)
        try self.queue.drain { (change) throws(StorageFailure) in
            let statement = change.isAdded ? statements.add : statements.remove
            statement.bind(1, change.zone.database.rawValue)
            statement.bind(2, change.zone.number)
            statement.bind(3, change.entry.index)
            statement.bind(5, change.record)
            try statement.run(bytes: change.entry.value, at: 4)
            // An entry that was there stays one, and one may be absent that is to go.
            guard statement.changesCount > 0 else { return }
            let bytes = RowBytes.entry(change.entry)
            order.pending.count(rowBytes: change.isAdded ? bytes : -bytes, in: change.zone)
        }
    }

    func removeAll() { self.queue.removeAll() }

    func takeIndexNumbers(_ count: Int) throws(StorageFailure) -> Int64 {
        let statement = self.statements.takeNumbers
        statement.bind(1, Int64(count))
        guard try statement.step() else { throw .unexpected(code: SQLITE_NOTFOUND) }
        defer { statement.reset() }
        return statement.integer(0) - Int64(count) + 1
    }
}
