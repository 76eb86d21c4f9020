import RecordModel
import StorageContract

/// Reads of one snapshot after the other, on one connection.
///
/// A snapshot is a read-only transaction of the isolation level REPEATABLE READ, which no writes of
/// others make fail. The first questions of its jobs travel together with the beginning, and have their
/// answers before the jobs are executed. A job without such questions has its first statement travel with
/// the beginning. If another read waits, the end of the last snapshot does so too.
///
/// Zones and record types are remembered from one snapshot to the next (`RememberedRows`).
final class PostgreSQLSnapshot: Snapshot {
    let connection: PostgreSQLConnection
    let tables: TableStatements
    private var remembered = RememberedRows()
    private var prefetched = PrefetchedRecords()
    private var asked: Set<SnapshotRead> = []
    private var answers: [SnapshotRead: ResultRows] = [:]

    private static let prefetchedBytes: Int64 = 4 * 1_024 * 1_024
    /// The number of records of a zone that one statement visits, whatever their bodies take.
    private static let firstPiece = 32
    private static let nextPiece = 64

    /// Every commit that may change a schema counts the first up, and every one that may create or delete
    /// a zone the second.
    static let versions = SQL(
        "SELECT schema_version, generation FROM tidemark.store WHERE id = 1",
        reach: .directory
    )

    init(_ connection: PostgreSQLConnection) {
        self.connection = connection
        self.tables = TableStatements(connection)
    }

    // MARK: Beginning and end

    /// Reads in a snapshot of its own, which has the answers to what the jobs ask first.
    func read<Value, Failure: Error>(
        prefetching prefetches: [Prefetch] = [],
        isAttempt: Bool = false,
        _ body: (PostgreSQLSnapshot) throws(Failure) -> Value,
        failure: (StorageFailure) -> Failure
    ) throws(Failure) -> Value {
        // Also if a first question fails: the transaction has failed then, and its answers are no answers.
        defer { self.end() }
        do throws(StorageFailure) {
            try self.begin(prefetches, isAttempt)
        } catch {
            throw failure(error)
        }
        return try body(self)
    }

    private func begin(_ prefetches: [Prefetch], _ isAttempt: Bool) throws(StorageFailure) {
        // Answers of the last snapshot may come with this.
        try self.connection.write(TransactionSQL.beginReading)
        self.remembered.begin()
        try self.connection.write(Self.versions) { [unowned self] rows in
            self.remembered.note(schemaVersion: rows.integer(0, 0), generation: rows.integer(0, 1))
        }
        for prefetch in prefetches {
            for records in prefetch.records {
                guard let zone = self.remembered.zone(named: records.zone, in: records.database) else {
                    continue
                }
                self.prefetched.want(records.names, in: zone)
            }
            for read in prefetch.reads?(self.remembered, isAttempt) ?? [] { try self.ask(read) }
        }
        guard !self.asked.isEmpty || !self.prefetched.isEmpty else { return }
        try self.prefetched.send(on: self.connection, bytesMax: Self.prefetchedBytes)
        try self.connection.drain()
        try self.prefetched.settle(on: self.connection)
    }

    /// Sends what a job will ask, and does not wait for the answer.
    private func ask(_ read: SnapshotRead) throws(StorageFailure) {
        guard self.asked.insert(read).inserted, let question = read.question(self.tables) else { return }
        try self.connection.write(question.sql, question.parameters) { [unowned self] rows in
            self.answers[read] = rows
        }
    }

    /// Ends the snapshot, with the beginning of the next one or when the thread rests.
    private func end() {
        self.asked = []
        self.answers = [:]
        self.prefetched.forget()
        // A connection that is lost has no snapshot, and the next read finds that out.
        try? self.connection.send(TransactionSQL.commit)
    }

    /// Ends the last snapshot, and does not wait for that.
    func rest() { try? self.connection.leave() }

    /// The answer that came, or the answer to the statement.
    func answer(_ read: SnapshotRead) throws(StorageFailure) -> ResultRows {
        if let known = self.answers[read] { return known }
        guard let question = read.question(self.tables) else { throw .unexpected(code: 0) }
        return try self.connection.rows(question)
    }

    // MARK: Tables and types

    func rows(
        of table: Table,
        by index: Table.Index,
        keys: [[ColumnValue]]
    ) throws(StorageFailure) -> [[ColumnValue]?] {
        if !self.answers.isEmpty, let known = self.answers[.rows(table, by: index, keys: keys)] {
            return known.rows(of: table, count: keys.count)
        }
        return try self.tables.rows(of: table, by: index, keys: keys)
    }

    func rows(
        of table: Table,
        in range: TableRange,
        limit: Int
    ) throws(StorageFailure) -> [[ColumnValue]] {
        if !self.answers.isEmpty, let known = self.answers[.range(table, range, limit: limit)] {
            return known.rows(of: table)
        }
        return try self.tables.rows(of: table, in: range, limit: limit)
    }

    func count(of table: Table, in range: TableRange, limit: Int) throws(StorageFailure) -> Int {
        try self.tables.count(of: table, in: range, limit: limit)
    }

    func types(
        named names: [String],
        in environment: EnvironmentID
    ) throws(StorageFailure) -> [StoredType?] {
        // The versions of the snapshot are known only when something was read.
        if !self.remembered.isTrue { try self.connection.drain() }
        let known = names.map { self.remembered.type(named: $0, in: environment) }
        let unknown = Set(zip(names, known).filter { $0.1 == nil }.map(\.0)).sorted()
        guard !unknown.isEmpty else { return known }
        let found = try StoredType.types(named: unknown, in: environment, from: self.tables)
        for case (let name, let type?) in zip(unknown, found) {
            self.remembered.remember(type, named: name, in: environment)
        }
        return names.map { self.remembered.type(named: $0, in: environment) }
    }

    func hasEntries(ofIndex index: Int64, in environment: EnvironmentID) throws(StorageFailure) -> Bool {
        try self.connection.hasEntries(ofIndex: index, in: environment)
    }

    // MARK: Zones

    func zone(named name: String, in database: DatabaseID) throws(StorageFailure) -> ZoneKey? {
        if self.remembered.isTrue, let known = self.remembered.zone(named: name, in: database) {
            return known
        }
        let found = try self.connection.zone(named: name, in: database)
        if let found { self.remembered.remember(found, named: name, in: database) }
        return found
    }

    // MARK: Records

    func record(named name: String, in zone: ZoneKey) throws(StorageFailure) -> StoredRecord? {
        if let known = self.prefetched.record(named: name, in: zone) { return known }
        return try self.connection.record(named: name, in: zone)
    }

    func records(
        named names: ArraySlice<String>,
        in zone: ZoneKey,
        bytesMax: Int
    ) throws(StorageFailure) -> [StoredRecord?] {
        if let known = self.prefetched.records(named: names, in: zone, bytesMax: bytesMax) { return known }
        return try self.connection.records(named: names, in: zone, bytesMax: bytesMax)
    }

    func records(numbered numbers: [Int64], in zone: ZoneKey) -> any RecordList {
        PostgreSQLRecords(numbers, in: zone, on: self.connection)
    }

    /// The records of a list that has them in its rows.
    func records(
        _ numbers: [Int64],
        of rows: ResultRows,
        in zone: ZoneKey
    ) throws(StorageFailure) -> any RecordList {
        let listed = try RecordRows(rows, on: self.connection)
        return PostgreSQLRecords(numbers, in: zone, listed: listed, on: self.connection)
    }

    func positions(
        ofRecordNamed name: String,
        in zone: ZoneKey
    ) throws(StorageFailure) -> RecordPositions? {
        guard !name.utf8.contains(0) else { return nil }
        let rows = try self.connection.rows(RecordReads.positions, zone.parameters + [.text(name)])
        guard !rows.isEmpty else { return nil }
        return RecordPositions(
            number: rows.integer(0, 0),
            position: rows.integer(0, 1),
            createdPosition: rows.integer(0, 2)
        )
    }

    func visitRecords(
        of zone: ZoneKey,
        beyond number: Int64?,
        isDescending: Bool,
        _ visit: (borrowing FeedRow) throws(FeedFailure) -> Bool
    ) throws(FeedFailure) {
        var next = number ?? (isDescending ? .max : .min)
        var size = Self.firstPiece
        while true {
            let rows = try FeedFailure.wrapping { () throws(StorageFailure) in
                try self.connection.records(
                    isDescending ? RecordReads.descending : RecordReads.ascending,
                    zone.parameters + [.integer(next), .integer(Int64(size))]
                )
            }
            // SAFETY: the rows outlive the visits.
            defer { withExtendedLifetime(rows) {} }
            for row in 0..<rows.count { guard try visit(rows.lent(row)) else { return } }
            guard rows.count == size else { return }
            next = rows.number(rows.count - 1)
            size = Self.nextPiece
        }
    }
}
