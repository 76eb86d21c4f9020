import GRDBSQLite
import RecordModel
import StorageContract

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

    /// Maximum growth of the file by queued entries.
    var bytesMax: Int64 { self.queue.bytesMax }
    var isEmpty: Bool { self.queue.isEmpty }

    /// Queues changes of one record's entries until the end of the transaction.
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

    /// Queues additions of one record's entries until the end of the transaction.
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

    /// Writes the queued changes; the transaction does not read entries earlier.
    func write() throws(StorageFailure) {
        guard !self.queue.isEmpty else { return }
        let (statements, order) = (self.statements, self.order)
        try self.queue.drain { (change) throws(StorageFailure) in
            let statement = change.isAdded ? statements.add : statements.remove
            statement.bind(1, change.record)
            try statement.run(bytes: EntryKey(change.entry.index, in: change.zone)[change.entry.value], at: 2)
            // Inserting a present entry, or removing an absent one, changes nothing.
            guard statement.changesCount > 0 else { return }
            let bytes = RowBytes.entry(change.entry)
            order.pending.count(rowBytes: change.isAdded ? bytes : -bytes, in: change.zone)
        }
    }

    /// Forgets the queued changes after a rollback.
    func removeAll() { self.queue.removeAll() }

    /// Removes all entries of a record, which takes a scan of the zone's entries.
    func remove(of record: Int64, in zone: ZoneKey) throws(StorageFailure) {
        // Queued entries may be among them.
        try self.write()
        let range = EntryKey.range(of: zone)
        let statement = self.statements.removeAll
        statement.bind(1, range.from)
        statement.bind(2, range.upTo)
        statement.bind(3, record)
        var entries: [IndexEntry] = []
        while try statement.step() {
            guard let parts = EntryKey.parts(of: statement.bytes(0)) else { continue }
            entries.append(IndexEntry(index: parts.index, value: parts.value))
        }
        self.meter.done += entries.count
        for entry in entries { self.order.pending.count(rowBytes: -RowBytes.entry(entry), in: zone) }
    }

    /// Removes entries of a zone, or of one of its indexes.
    ///
    /// - Returns: The number of bytes of each entry's value.
    func remove(ofIndex index: Int64?, in zone: ZoneKey, limit: Int) throws(StorageFailure) -> [Int] {
        let range: (from: [UInt8], upTo: [UInt8])
        var prefixCount = 0
        if let index {
            let key = EntryKey(index, in: zone)
            range = (key.prefix, key.end)
            prefixCount = key.prefix.count
        } else {
            range = EntryKey.range(of: zone)
        }
        let statement = self.statements.removeSome
        statement.bind(1, range.from)
        statement.bind(2, range.upTo)
        statement.bind(3, Int64(limit))
        var sizes: [Int] = []
        while try statement.step() { sizes.append(Int(statement.integer(0)) - prefixCount) }
        return sizes
    }

    func takeIndexNumbers(_ count: Int) throws(StorageFailure) -> Int64 {
        let statement = self.statements.takeNumbers
        statement.bind(1, Int64(count))
        guard try statement.step() else { throw .unexpected(code: SQLITE_NOTFOUND) }
        defer { statement.reset() }
        return statement.integer(0) - Int64(count) + 1
    }
}
