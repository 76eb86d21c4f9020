import RecordModel
import RecordStore

/// Reads entries as format 11 has them, in the table `entry`, until they are copied (`EntryCopy`).
///
/// Statements that scan entries have the same parameters: 1 database, 2 zone, 3 index, 4 the value
/// to start at, or with 5 the entry to start behind, 6 the value to end at, 7 limit, 8 how many to
/// pass over.
final class EarlierEntryReader: EntryReading {
    /// With and without one of the bounds.
    private struct Bounded {
        let bounded, open: HotStatement
    }

    private let records: HotStatement
    private let ascending, ascendingBehind, descending, count, countBehind: Bounded

    init(_ connection: OpaquePointer) throws(StorageFailure) {
        func statement(_ sql: String) throws(StorageFailure) -> HotStatement {
            try HotStatement(sql, on: connection)
        }
        let within = "FROM entry WHERE database = ?1 AND zone = ?2 AND field = ?3"
        self.records = try statement(
            "SELECT record \(within) AND value = ?4 AND record >= ?5 ORDER BY record LIMIT ?7"
        )
        // SQLite compares pairs for every entry that it reads, a value only to find the first.
        let from = "\(within) AND value >= ?4"
        let behind = "\(within) AND (value, record) > (?4, ?5)"
        func ascending(_ start: String) throws(StorageFailure) -> Bounded {
            let inOrder = "ORDER BY value, record LIMIT ?7 OFFSET ?8"
            return Bounded(
                bounded: try statement("SELECT value, record \(start) AND value < ?6 \(inOrder)"),
                open: try statement("SELECT value, record \(start) \(inOrder)")
            )
        }
        self.ascending = try ascending(from)
        self.ascendingBehind = try ascending(behind)
        let descending = "\(within) AND value >= ?6"
        let backwards = "ORDER BY value DESC, record DESC LIMIT ?7 OFFSET ?8"
        self.descending = Bounded(
            bounded: try statement(
                "SELECT value, record \(descending) AND (value, record) < (?4, ?5) \(backwards)"
            ),
            open: try statement("SELECT value, record \(descending) \(backwards)")
        )
        func count(_ start: String) throws(StorageFailure) -> Bounded {
            Bounded(
                bounded: try statement(
                    "SELECT count(*) FROM (SELECT 1 \(start) AND value < ?6 LIMIT ?7)"
                ),
                open: try statement("SELECT count(*) FROM (SELECT 1 \(start) LIMIT ?7)")
            )
        }
        self.count = try count(from)
        self.countBehind = try count(behind)
    }

    func entries(
        _ scan: EntryScan,
        of index: Int64,
        in zone: ZoneKey,
        limit: Int
    ) throws(StorageFailure) -> [EntryPosition] {
        let statement =
            scan.isDescending
            ? self.boundDescending(scan)
            : self.boundAscending(scan, from: self.ascending, behind: self.ascendingBehind)
        self.bind(statement, index, zone, limit)
        statement.bind(8, Int64(scan.offset))
        var entries: [EntryPosition] = []
        while try statement.step() {
            entries.append(EntryPosition(value: statement.bytes(0), record: statement.integer(1)))
        }
        return entries
    }

    func records(
        having value: [UInt8],
        in index: Int64,
        of zone: ZoneKey,
        from number: Int64,
        limit: Int
    ) throws(StorageFailure) -> [Int64] {
        let statement = self.records
        self.bind(statement, index, zone, limit)
        statement.bind(4, value)
        statement.bind(5, number)
        var numbers: [Int64] = []
        while try statement.step() { numbers.append(statement.integer(0)) }
        return numbers
    }

    func countOfEntries(
        _ scan: EntryScan,
        of index: Int64,
        in zone: ZoneKey,
        limit: Int
    ) throws(StorageFailure) -> Int {
        let statement = self.boundAscending(scan, from: self.count, behind: self.countBehind)
        self.bind(statement, index, zone, limit)
        guard try statement.step() else { return 0 }
        defer { statement.reset() }
        return Int(statement.integer(0))
    }

    // MARK: Ranges

    private func bind(_ statement: HotStatement, _ index: Int64, _ zone: ZoneKey, _ limit: Int) {
        statement.bind(1, zone.database.rawValue)
        statement.bind(2, zone.number)
        statement.bind(3, index)
        statement.bind(7, Int64(limit))
    }

    /// Binds where a scan in order starts and ends.
    private func boundAscending(_ scan: EntryScan, from: Bounded, behind: Bounded) -> HotStatement {
        let statements = scan.after == nil ? from : behind
        let statement = scan.range.upper == nil ? statements.open : statements.bounded
        statement.bind(4, scan.after?.value ?? scan.range.lower)
        if let after = scan.after { statement.bind(5, after.record) }
        if let upper = scan.range.upper { statement.bind(6, upper) }
        return statement
    }

    /// Binds where a scan against the order starts and ends.
    private func boundDescending(_ scan: EntryScan) -> HotStatement {
        let start = scan.after ?? scan.range.upper.map { EntryPosition(value: $0, record: 0) }
        let statement =
            start == nil ? self.descending.open : self.descending.bounded
        statement.bind(6, scan.range.lower)
        if let start {
            statement.bind(4, start.value)
            statement.bind(5, start.record)
        }
        return statement
    }
}
