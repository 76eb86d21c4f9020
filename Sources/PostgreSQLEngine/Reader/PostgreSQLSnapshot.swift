import RecordModel
import RecordStore

/// Reads of one snapshot after the other, on one connection.
///
/// A snapshot is a read-only transaction of the isolation level REPEATABLE READ, which never fails for
/// what others write. Its first statement travels together with the beginning.
///
/// Feeds and queries ask for one record after the other, in the order of a list that they got before. So
/// the records that come next in that list are read along with the one that is asked for.
final class PostgreSQLSnapshot: Snapshot {
    let connection: PostgreSQLConnection
    let tables: TableStatements
    private var schemaVersion: Int64 = -1
    /// Types as of a version of all schemas.
    private var types: [TypeName: StoredType] = [:]
    private var typesVersion: Int64 = -1
    /// The numbers of records that were listed last, whose turn may come.
    private var expected: [Int64] = []
    private var ahead: [Int64: NamedRow] = [:]
    private var aheadZone: ZoneKey?
    private var pieceSize = PostgreSQLSnapshot.pieceMin

    private struct TypeName: Hashable {
        let environment: EnvironmentID
        let name: String
    }

    /// A row of a result that is kept.
    private struct NamedRow {
        let rows: ResultRows
        let row: Int
    }

    /// So many records are read along with one that is asked for, the more the longer it goes on.
    private static let pieceMin = 4
    private static let pieceMax = 64
    private static let typesMax = 10_000

    private static let version = SQL(
        "SELECT schema_version FROM tidemark.store WHERE id = 1",
        reach: .directory
    )

    init(_ connection: PostgreSQLConnection) {
        self.connection = connection
        self.tables = TableStatements(connection)
    }

    // MARK: Beginning and end

    /// Reads in a snapshot of its own.
    func read<Value, Failure: Error>(
        _ body: (PostgreSQLSnapshot) throws(Failure) -> Value,
        failure: (StorageFailure) -> Failure
    ) throws(Failure) -> Value {
        do throws(StorageFailure) {
            try self.begin()
        } catch {
            throw failure(error)
        }
        defer { self.end() }
        return try body(self)
    }

    private func begin() throws(StorageFailure) {
        try self.connection.write(TransactionSQL.beginReading)
        try self.connection.write(Self.version) { self.schemaVersion = $0.integer(0, 0) }
    }

    /// Ends the snapshot, and does not wait for that.
    private func end() {
        self.expected = []
        self.ahead = [:]
        self.aheadZone = nil
        self.pieceSize = Self.pieceMin
        // A connection that is lost has no snapshot, and the next read finds that out.
        guard (try? self.connection.send(TransactionSQL.commit)) != nil else { return }
        try? self.connection.leave()
    }

    // MARK: Tables and types

    func rows(
        of table: Table,
        by index: Table.Index,
        keys: [[ColumnValue]]
    ) throws(StorageFailure) -> [[ColumnValue]?] {
        try self.tables.rows(of: table, by: index, keys: keys)
    }

    func rows(
        of table: Table,
        in range: TableRange,
        limit: Int
    ) throws(StorageFailure) -> [[ColumnValue]] {
        try self.tables.rows(of: table, in: range, limit: limit)
    }

    func count(of table: Table, in range: TableRange, limit: Int) throws(StorageFailure) -> Int {
        try self.tables.count(of: table, in: range, limit: limit)
    }

    func types(
        named names: [String],
        in environment: EnvironmentID
    ) throws(StorageFailure) -> [StoredType?] {
        // The version of the snapshot is known only when something was read.
        try self.connection.drain()
        if self.typesVersion != self.schemaVersion || self.types.count > Self.typesMax {
            self.types = [:]
            self.typesVersion = self.schemaVersion
        }
        let unknown = names.filter { self.types[TypeName(environment: environment, name: $0)] == nil }
        if !unknown.isEmpty {
            let found = try StoredType.types(named: unknown, in: environment, from: self.tables)
            for (name, type) in zip(unknown, found) {
                if let type { self.types[TypeName(environment: environment, name: name)] = type }
            }
        }
        return names.map { self.types[TypeName(environment: environment, name: $0)] }
    }

    func hasEntries(ofIndex index: Int64, in environment: EnvironmentID) throws(StorageFailure) -> Bool {
        try self.connection.hasEntries(ofIndex: index, in: environment)
    }

    // MARK: Zones

    func zone(named name: String, in database: DatabaseID) throws(StorageFailure) -> ZoneKey? {
        try self.connection.zone(named: name, in: database)
    }

    // MARK: Records

    func record(named name: String, in zone: ZoneKey) throws(StorageFailure) -> StoredRecord? {
        try self.connection.record(named: name, in: zone)
    }

    func records(
        named names: ArraySlice<String>,
        in zone: ZoneKey,
        bytesMax: Int
    ) throws(StorageFailure) -> [StoredRecord?] {
        try self.connection.records(named: names, in: zone, bytesMax: bytesMax)
    }

    func record(_ key: RecordKey) throws(StorageFailure) -> NamedRecord? {
        try self.row(of: key).map { $0.rows.namedRecord($0.row) }
    }

    func positions(
        ofRecordNamed name: String,
        in zone: ZoneKey
    ) throws(StorageFailure) -> RecordPositions? {
        guard !name.utf8.contains(0) else { return nil }
        let rows = try self.connection.rows(RecordColumns.positions, zone.parameters + [.text(name)])
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
                try self.connection.rows(
                    isDescending ? RecordColumns.descending : RecordColumns.ascending,
                    zone.parameters + [.integer(next), .integer(Int64(size))]
                )
            }
            for row in 0..<rows.count {
                guard try Self.lend(NamedRow(rows: rows, row: row), visit) else { return }
            }
            guard rows.count == size else { return }
            next = rows.integer(rows.count - 1, RecordColumns.number)
            size = min(Self.pieceMax, 2 * size)
        }
    }

    func visitRecord(
        _ key: RecordKey,
        _ visit: (borrowing FeedRow) throws(FeedFailure) -> Bool
    ) throws(FeedFailure) -> Bool? {
        let found = try FeedFailure.wrapping { () throws(StorageFailure) in try self.row(of: key) }
        guard let found else { return nil }
        return try Self.lend(found, visit)
    }

    private static func lend(
        _ named: NamedRow,
        _ visit: (borrowing FeedRow) throws(FeedFailure) -> Bool
    ) throws(FeedFailure) -> Bool {
        let record = named.rows.namedRecord(named.row)
        let stored = record.stored
        let id = RecordID(zone: .default, recordName: record.name)
        return try stored.record(id: id).lentThrowing { (lent) throws(FeedFailure) in
            try visit(
                FeedRow(
                    number: stored.number,
                    position: stored.position,
                    record: LentRecord(
                        name: lent.name,
                        recordType: lent.recordType,
                        changeTag: lent.changeTag,
                        system: lent.system,
                        parent: lent.parent,
                        fields: lent.fields
                    )
                )
            )
        }
    }

    // MARK: What is read ahead

    /// Notes records of which each may be asked for next, in this order.
    func expect(_ numbers: [Int64]) {
        self.expected = numbers
        self.pieceSize = Self.pieceMin
    }

    /// The row of a record, and with it those that are expected behind it.
    private func row(of key: RecordKey) throws(StorageFailure) -> NamedRow? {
        if self.aheadZone == key.zone, let known = self.ahead[key.number] { return known }
        var numbers = [key.number]
        if let offset = self.expected.firstIndex(of: key.number) {
            numbers = Array(self.expected[offset...].prefix(self.pieceSize))
            self.expected.removeSubrange(..<offset)
            self.pieceSize = min(Self.pieceMax, 2 * self.pieceSize)
        }
        let rows = try self.connection.rows(
            RecordColumns.byNumber,
            key.zone.parameters + [.integers(numbers)]
        )
        var found: [Int64: NamedRow] = [:]
        for row in 0..<rows.count {
            found[rows.integer(row, RecordColumns.number)] = NamedRow(rows: rows, row: row)
        }
        if numbers.count > 1 {
            self.ahead = found
            self.aheadZone = key.zone
        }
        return found[key.number]
    }
}
