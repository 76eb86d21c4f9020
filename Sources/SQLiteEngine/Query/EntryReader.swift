import RecordModel
import StorageContract

/// Reads entries of indexes within a snapshot: the table `index_entry` and its order, not the
/// meaning of values.
///
/// All scans of entries have the same parameters: 1 the key to start at, or with 3 the entry to
/// start after, 2 the key to end before, 4 limit, 5 the number of entries to skip.
final class EntryReader {
    private let collector: IntegerCollector
    private let records, ascending, ascendingBehind, descending, count, countBehind, countAll: HotStatement

    init(_ connection: OpaquePointer) throws(StorageFailure) {
        func statement(_ sql: String) throws(StorageFailure) -> HotStatement {
            try HotStatement(sql, on: connection)
        }
        // SQLite compares pairs for every entry that it reads, but a key only to find the first.
        let from = "FROM index_entry WHERE key >= ?1 AND key < ?2"
        let behind = "FROM index_entry WHERE (key, record) > (?1, ?3) AND key < ?2"
        let inOrder = "ORDER BY key, record LIMIT ?4 OFFSET ?5"
        self.collector = try IntegerCollector(on: connection)
        // SQLite reads the entries of one key in the order of their records.
        self.records = try statement(
            "SELECT \(IntegerCollector.function)(record) FROM index_entry WHERE key = ?1 AND record >= ?3"
        )
        self.ascending = try statement("SELECT key, record \(from) \(inOrder)")
        self.ascendingBehind = try statement("SELECT key, record \(behind) \(inOrder)")
        self.descending = try statement(
            """
            SELECT key, record FROM index_entry WHERE key >= ?1 AND (key, record) < (?2, ?3)
            ORDER BY key DESC, record DESC LIMIT ?4 OFFSET ?5
            """
        )
        self.count = try statement("SELECT count(*) FROM (SELECT 1 \(from) LIMIT ?4)")
        self.countBehind = try statement("SELECT count(*) FROM (SELECT 1 \(behind) LIMIT ?4)")
        self.countAll = try statement("SELECT count(*) \(from)")
    }

    func entries(_ scan: EntryScan) throws(StorageFailure) -> [EntryPosition] {
        let key = EntryKey(scan.index, in: scan.zone)
        let statement = self.statement(scan, key)
        statement.bind(4, Int64(scan.limit))
        statement.bind(5, Int64(scan.offset))
        var entries: [EntryPosition] = []
        while try statement.step() {
            // SAFETY: the lent bytes are copied before the statement steps.
            let value = [UInt8](statement.lent(0).dropFirst(key.prefix.count))
            entries.append(EntryPosition(value: value, record: statement.integer(1)))
        }
        return entries
    }

    func numbers(_ scan: NumberScan) throws(StorageFailure) -> [Int64] {
        self.records.bind(1, EntryKey(scan.index, in: scan.zone)[scan.value])
        self.records.bind(3, scan.start)
        return try self.collector.collect(self.records, limit: scan.limit)
    }

    func countOfEntries(_ scan: EntryScan) throws(StorageFailure) -> Int {
        let key = EntryKey(scan.index, in: scan.zone)
        // A limit makes every entry more expensive, and most counts end before it.
        if scan.after == nil, let count = try self.countOfAll(scan, key) { return count }
        let statement = scan.after == nil ? self.count : self.countBehind
        self.bind(statement, scan, key)
        statement.bind(4, Int64(scan.limit))
        guard try statement.step() else { return 0 }
        defer { statement.reset() }
        return Int(statement.integer(0))
    }

    /// Counts all entries, or returns `nil` if there may be more than the limit.
    private func countOfAll(_ scan: EntryScan, _ key: EntryKey) throws(StorageFailure) -> Int? {
        self.bind(self.countAll, scan, key)
        // Three for each entry, and a constant for the start.
        guard let hasRow = try self.countAll.step(operationsMax: 3 * scan.limit + 64) else { return nil }
        defer { self.countAll.reset() }
        let count = hasRow ? Int(self.countAll.integer(0)) : 0
        return count > scan.limit ? nil : count
    }

    private func statement(_ scan: EntryScan, _ key: EntryKey) -> HotStatement {
        guard !scan.isDescending else {
            self.descending.bind(1, key[scan.range.lower])
            let start = scan.after ?? scan.range.upper.map { EntryPosition(value: $0, record: 0) }
            self.descending.bind(2, start.map { key[$0.value] } ?? key.end)
            self.descending.bind(3, start?.record ?? 0)
            return self.descending
        }
        let statement = scan.after == nil ? self.ascending : self.ascendingBehind
        self.bind(statement, scan, key)
        return statement
    }

    /// Binds the start and end of an ordered scan.
    private func bind(_ statement: HotStatement, _ scan: EntryScan, _ key: EntryKey) {
        statement.bind(1, key[scan.after?.value ?? scan.range.lower])
        statement.bind(2, scan.range.upper.map { key[$0] } ?? key.end)
        if let after = scan.after { statement.bind(3, after.record) }
    }
}
