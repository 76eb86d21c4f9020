import RecordModel
import RecordStore

/// Reads of queries within a snapshot.
extension ReadConnection {
    func entries(
        _ scan: EntryScan,
        of index: Int64,
        in zone: ZoneKey,
        limit: Int
    ) throws(StorageFailure) -> [EntryPosition] {
        let statement =
            scan.isDescending
            ? self.descending(scan)
            : self.ascending(
                scan,
                from: self.queryStatements.ascending,
                behind: self.queryStatements.ascendingBehind
            )
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
        let statement = self.queryStatements.records
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
        // The limit makes every entry dearer, and most counts end before it.
        if scan.after == nil, let count = try self.countOfAll(scan, of: index, in: zone, limit: limit) {
            return count
        }
        let statement =
            self.ascending(scan, from: self.queryStatements.count, behind: self.queryStatements.countBehind)
        self.bind(statement, index, zone, limit)
        guard try statement.step() else { return 0 }
        defer { statement.reset() }
        return Int(statement.integer(0))
    }

    /// Counts all entries, or returns `nil` if there may be more than the limit.
    private func countOfAll(
        _ scan: EntryScan,
        of index: Int64,
        in zone: ZoneKey,
        limit: Int
    ) throws(StorageFailure) -> Int? {
        let statements = self.queryStatements.countAll
        let statement = self.ascending(scan, from: statements, behind: statements)
        self.bindPlace(statement, index, zone)
        // Three for each entry, and some to begin with.
        guard let hasRow = try statement.step(operationsMax: 3 * limit + 64) else { return nil }
        defer { statement.reset() }
        let count = hasRow ? Int(statement.integer(0)) : 0
        return count > limit ? nil : count
    }

    // MARK: Ranges

    /// Every entry statement has these three parameters at the same indexes.
    private func bindPlace(_ statement: HotStatement, _ index: Int64, _ zone: ZoneKey) {
        statement.bind(1, zone.database.rawValue)
        statement.bind(2, zone.number)
        statement.bind(3, index)
    }

    private func bind(_ statement: HotStatement, _ index: Int64, _ zone: ZoneKey, _ limit: Int) {
        self.bindPlace(statement, index, zone)
        statement.bind(7, Int64(limit))
    }

    /// Binds where a scan in order starts and ends.
    private func ascending(
        _ scan: EntryScan,
        from: QueryStatements.Bounded,
        behind: QueryStatements.Bounded
    ) -> HotStatement {
        let statements = scan.after == nil ? from : behind
        let statement = scan.range.upper == nil ? statements.open : statements.bounded
        statement.bind(4, scan.after?.value ?? scan.range.lower)
        if let after = scan.after { statement.bind(5, after.record) }
        if let upper = scan.range.upper { statement.bind(6, upper) }
        return statement
    }

    /// Binds where a scan against the order starts and ends.
    private func descending(_ scan: EntryScan) -> HotStatement {
        let start = scan.after ?? scan.range.upper.map { EntryPosition(value: $0, record: 0) }
        let statement =
            start == nil ? self.queryStatements.descending.open : self.queryStatements.descending.bounded
        statement.bind(6, scan.range.lower)
        if let start {
            statement.bind(4, start.value)
            statement.bind(5, start.record)
        }
        return statement
    }
}
