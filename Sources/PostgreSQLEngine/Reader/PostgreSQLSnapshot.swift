import RecordModel
import RecordStore

/// Reads of one snapshot after the other, on one connection.
///
/// A snapshot is a read-only transaction of the isolation level REPEATABLE READ, which never fails for
/// what others write. Its first statements travel together with the beginning: those that prefetch, and
/// the first that a job asks for. If another read waits, the end of the last snapshot does so too.
///
/// Zones and record types are remembered from one snapshot to the next (`SnapshotMemory`). Feeds and
/// queries ask for one record after the other, in the order of a list that they got before. So a list has
/// its records with it. Those that did not fit are read along with the one that is asked for.
final class PostgreSQLSnapshot: Snapshot {
    let connection: PostgreSQLConnection
    let tables: TableStatements
    private var zones = SnapshotMemory<ZoneName, ZoneKey>()
    private var types = SnapshotMemory<TypeName, StoredType>()
    private var prefetched = PrefetchedRecords()
    private(set) var feed = PrefetchedFeed()
    /// The numbers of records that were listed last, whose turn may come.
    private var expected: [Int64] = []
    private var ahead: [Int64: NamedRow] = [:]
    private var aheadZone: ZoneKey?
    private var pieceSize = PostgreSQLSnapshot.pieceMin

    private struct ZoneName: Hashable {
        let database: DatabaseID
        let name: String
    }

    private struct TypeName: Hashable {
        let environment: EnvironmentID
        let name: String
    }

    /// A row of a result that is kept.
    private struct NamedRow {
        let rows: RecordRows
        let row: Int
    }

    /// So many records are read along with one that is asked for, the more the longer it goes on.
    private static let pieceMin = 32
    private static let pieceMax = 256
    /// So many where their bodies have no bound.
    private static let unboundedMax = 64
    /// About so many bytes of bodies.
    private static let pieceBytes: Int64 = 1_024 * 1_024
    private static let prefetchedBytes: Int64 = 4 * 1_024 * 1_024

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

    /// Whether what was read is worth nothing: what was remembered may be something else now.
    var isStale: Bool { self.zones.isStale || self.types.isStale }

    /// Reads in a snapshot of its own.
    func read<Value, Failure: Error>(
        prefetching prefetches: [Prefetch] = [],
        _ body: (PostgreSQLSnapshot) throws(Failure) -> Value,
        failure: (StorageFailure) -> Failure
    ) throws(Failure) -> Value {
        do throws(StorageFailure) {
            try self.begin(prefetches)
        } catch {
            throw failure(error)
        }
        defer { self.end() }
        let value: Value
        do throws(Failure) { value = try body(self) } catch {
            // A remembered value may be the reason.
            try? self.confirm()
            throw error
        }
        do throws(StorageFailure) { try self.confirm() } catch { throw failure(error) }
        return value
    }

    private func begin(_ prefetches: [Prefetch]) throws(StorageFailure) {
        self.zones.begin()
        self.types.begin()
        try self.connection.write(TransactionSQL.beginReading)
        try self.connection.write(Self.versions) {
            self.types.note(version: $0.integer(0, 0))
            self.zones.note(version: $0.integer(0, 1))
        }
        for prefetch in prefetches {
            for records in prefetch.records {
                let name = ZoneName(database: records.database, name: records.zone)
                guard let zone = self.zones.value(name) else { continue }
                self.prefetched.want(records.names, in: zone)
            }
            if let feed = prefetch.feed { try self.send(feed) }
        }
        try self.prefetched.send(on: self.connection, bytesMax: Self.prefetchedBytes)
    }

    private func send(_ feed: Prefetch.Feed) throws(StorageFailure) {
        try self.feed.send(
            feed,
            of: self.zones.value(ZoneName(database: feed.database, name: feed.zone)),
            on: self.connection,
            tables: self.tables
        )
    }

    /// Ends the snapshot, with the beginning of the next one or when the thread rests.
    private func end() {
        self.expected = []
        self.ahead = [:]
        self.aheadZone = nil
        self.pieceSize = Self.pieceMin
        self.prefetched.forget()
        self.feed = PrefetchedFeed()
        // A connection that is lost has no snapshot, and the next read finds that out.
        try? self.connection.send(TransactionSQL.commit)
    }

    /// Ends the last snapshot, and does not wait for that.
    func rest() { try? self.connection.leave() }

    // MARK: Statements

    /// Waits for all that was sent, and takes the records that were prefetched.
    func settle() throws(StorageFailure) {
        try self.connection.drain()
        try self.checkMemory()
        try self.prefetched.settle(on: self.connection)
    }

    private func checkMemory() throws(StorageFailure) {
        guard !self.isStale else { throw .conflict }
    }

    /// Makes sure that all that was remembered and used is true of the snapshot.
    func confirm() throws(StorageFailure) {
        if self.zones.isOpen || self.types.isOpen { try self.settle() }
    }

    func rows(_ sql: SQL, _ parameters: [SQLValue]) throws(StorageFailure) -> ResultRows {
        let rows = try self.connection.rows(sql, parameters)
        try self.checkMemory()
        return rows
    }

    private func records(_ sql: SQL, _ parameters: [SQLValue]) throws(StorageFailure) -> RecordRows {
        try RecordRows(self.rows(sql, parameters), on: self.connection)
    }

    // MARK: Tables and types

    func rows(
        of table: Table,
        by index: Table.Index,
        keys: [[ColumnValue]]
    ) throws(StorageFailure) -> [[ColumnValue]?] {
        if self.feed.has(table, index, keys) {
            try self.settle()
            if let row = self.feed.row(of: table, by: index, keys) { return [row] }
        }
        let rows = try self.tables.rows(of: table, by: index, keys: keys)
        try self.checkMemory()
        return rows
    }

    func rows(
        of table: Table,
        in range: TableRange,
        limit: Int
    ) throws(StorageFailure) -> [[ColumnValue]] {
        let rows = try self.tables.rows(of: table, in: range, limit: limit)
        try self.checkMemory()
        return rows
    }

    func count(of table: Table, in range: TableRange, limit: Int) throws(StorageFailure) -> Int {
        let count = try self.tables.count(of: table, in: range, limit: limit)
        try self.checkMemory()
        return count
    }

    func types(
        named names: [String],
        in environment: EnvironmentID
    ) throws(StorageFailure) -> [StoredType?] {
        let keys = names.map { TypeName(environment: environment, name: $0) }
        let known = keys.map { self.types.value($0) }
        guard known.contains(where: { $0 == nil }) else { return known }
        // The versions of the snapshot are known only when something was read.
        try self.settle()
        let unknown = Set(zip(names, known).filter { $0.1 == nil }.map(\.0)).sorted()
        let found = try StoredType.types(named: unknown, in: environment, from: self.tables)
        for (name, type) in zip(unknown, found) {
            if let type { self.types.remember(type, for: TypeName(environment: environment, name: name)) }
        }
        return keys.map { self.types.value($0) }
    }

    func hasEntries(ofIndex index: Int64, in environment: EnvironmentID) throws(StorageFailure) -> Bool {
        try self.connection.hasEntries(ofIndex: index, in: environment)
    }

    // MARK: Zones

    func zone(named name: String, in database: DatabaseID) throws(StorageFailure) -> ZoneKey? {
        let key = ZoneName(database: database, name: name)
        if let known = self.zones.value(key) { return known }
        let found = try self.connection.zone(named: name, in: database)
        try self.checkMemory()
        if let found { self.zones.remember(found, for: key) }
        return found
    }

    // MARK: Records

    func record(named name: String, in zone: ZoneKey) throws(StorageFailure) -> StoredRecord? {
        if !self.prefetched.isEmpty {
            try self.settle()
            if let known = self.prefetched.record(named: name, in: zone) { return known }
        }
        let record = try self.connection.record(named: name, in: zone)
        try self.checkMemory()
        return record
    }

    func records(
        named names: ArraySlice<String>,
        in zone: ZoneKey,
        bytesMax: Int
    ) throws(StorageFailure) -> [StoredRecord?] {
        if !self.prefetched.isEmpty {
            try self.settle()
            if let known = self.prefetched.records(named: names, in: zone, bytesMax: bytesMax) {
                return known
            }
        }
        let records = try self.connection.records(named: names, in: zone, bytesMax: bytesMax)
        try self.checkMemory()
        return records
    }

    func record(_ key: RecordKey) throws(StorageFailure) -> NamedRecord? {
        try self.row(of: key).map { $0.rows.namedRecord($0.row) }
    }

    func positions(
        ofRecordNamed name: String,
        in zone: ZoneKey
    ) throws(StorageFailure) -> RecordPositions? {
        guard !name.utf8.contains(0) else { return nil }
        let rows = try self.rows(RecordReads.positions, zone.parameters + [.text(name)])
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
        var size = Self.pieceMin
        while true {
            let rows = try FeedFailure.wrapping { () throws(StorageFailure) in
                try self.records(
                    isDescending ? RecordReads.descending : RecordReads.ascending,
                    zone.parameters + [.integer(next), .integer(Int64(size))]
                )
            }
            // SAFETY: the rows outlive the visits.
            defer { withExtendedLifetime(rows) {} }
            for row in 0..<rows.count { guard try visit(rows.lent(row)) else { return } }
            guard rows.count == size else { return }
            next = rows.number(rows.count - 1)
            size = Self.unboundedMax
        }
    }

    func visitRecord(
        _ key: RecordKey,
        _ visit: (borrowing FeedRow) throws(FeedFailure) -> Bool
    ) throws(FeedFailure) -> Bool? {
        let found = try FeedFailure.wrapping { () throws(StorageFailure) in try self.row(of: key) }
        guard let found else { return nil }
        // SAFETY: the rows outlive the visit.
        defer { withExtendedLifetime(found.rows) {} }
        return try visit(found.rows.lent(found.row))
    }

    // MARK: Records that are read ahead

    /// Notes records of which each may be asked for next, in this order.
    func expect(_ numbers: [Int64]) {
        self.expected = numbers
        self.pieceSize = Self.pieceMin
    }

    /// The row of a record, and with it those that are expected behind it.
    private func row(of key: RecordKey) throws(StorageFailure) -> NamedRow? {
        if self.aheadZone == key.zone, let known = self.ahead[key.number] { return known }
        if let offset = self.expected.firstIndex(of: key.number) {
            let numbers = Array(self.expected[offset...].prefix(self.pieceSize))
            self.expected.removeSubrange(..<offset)
            self.pieceSize = min(Self.pieceMax, 2 * self.pieceSize)
            if numbers.count > 1 {
                try self.readAhead(numbers, in: key.zone)
                if let found = self.ahead[key.number] { return found }
            }
        }
        let rows = try self.records(
            RecordReads.oneByNumber,
            key.zone.parameters + [.integer(key.number)]
        )
        return rows.count == 0 ? nil : NamedRow(rows: rows, row: 0)
    }

    private func readAhead(_ numbers: [Int64], in zone: ZoneKey) throws(StorageFailure) {
        let rows = try self.records(
            RecordReads.byNumber,
            zone.parameters + [.integers(numbers), .integer(Self.pieceBytes)]
        )
        self.keep(rows, in: zone)
    }

    /// Keeps the rows of records that will be asked for.
    func keep(_ rows: RecordRows, in zone: ZoneKey) {
        self.ahead = [:]
        self.ahead.reserveCapacity(rows.count)
        for row in 0..<rows.count where rows.hasRecord(row) {
            self.ahead[rows.number(row)] = NamedRow(rows: rows, row: row)
        }
        self.aheadZone = zone
    }
}
