import RecordModel
import StorageContract

@testable import RecordStore

/// Alice, who owns the zone "notes", and Bob and Carol, whose shared databases may show it.
///
/// Rows in memory, with what rules about shares need of a transaction beside them.
struct SharingRows {
    static let environment = EnvironmentID(rawValue: 1)
    static let alice = "_00000000000000000000000000000a11"
    static let bob = "_00000000000000000000000000000b0b"
    static let carol = "_0000000000000000000000000000ca01"
    static let alicesPrivate = DatabaseID(rawValue: 1)
    static let bobsShared = DatabaseID(rawValue: 2)
    static let carolsShared = DatabaseID(rawValue: 3)
    static let notes = ZoneKey(database: alicesPrivate, number: 7)
    static let other = ZoneKey(database: alicesPrivate, number: 8)
    static let viewName = "\(alice)/notes"

    let transaction = SharingTestTransaction()

    init() throws {
        let tables = self.transaction.tables
        let container = try tables.insert(ContainerRow(identifier: "c", createdMilliseconds: 1))
        _ = try tables.insert(EnvironmentRow(container: container, kind: .development))
        let databases = [
            (Self.alice, DatabaseScope.private), (Self.bob, .shared), (Self.carol, .shared),
        ]
        for (user, scope) in databases {
            let number = try tables.insert(
                UserRow(container: container, name: user, recordName: user, createdMilliseconds: 1)
            )
            _ = try tables.insert(
                DatabaseRow(
                    environment: Self.environment,
                    scope: scope,
                    owner: UserNumber(rawValue: number),
                    position: 0,
                    epoch: 0,
                    stored: StoredAmount()
                )
            )
        }
        try tables.put(ZoneRow(database: Self.alicesPrivate, name: "notes", number: Self.notes.number))
        try tables.put(ZoneRow(database: Self.alicesPrivate, name: "other", number: Self.other.number))
        _ = try tables.insert(RecordTypeRow(environment: Self.environment, name: "Note"))
    }

    /// Makes a share; `root` is `nil` for one of the whole zone.
    @discardableResult
    func share(_ root: String?, in zone: ZoneKey = notes) throws -> StoredShare {
        let name = root.map { "share of \($0)" } ?? ShareRecord.zoneWideName
        return try self.transaction.insertShare(named: name, root: root, in: zone)
    }

    /// Lets somebody in.
    func join(
        _ share: StoredShare,
        by reader: DatabaseID = bobsShared,
        permission: SharePermission = .readOnly
    ) throws {
        let right = ReaderRight(permission: permission, role: .privateUser)
        try self.transaction.setReader(reader, of: share, right)
    }

    /// The roots of the shares that a reader may read in a zone.
    func roots(in zone: ZoneKey = notes, of reader: DatabaseID = bobsShared) throws -> [String] {
        try self.transaction.sharedAccess(to: zone, of: reader).shares.map { $0.share.root ?? "" }.sorted()
    }

    /// The names of the zones that a shared database shows.
    func zones(of reader: DatabaseID = bobsShared) throws -> [String] {
        try self.transaction.rows(RowRange(ZoneRow.byKey, reader)).map(\.name)
    }

    /// A connection of this run.
    static func connection(_ number: UInt64) -> ChangeOrigin {
        ChangeOrigin(run: self.run, connection: number)
    }

    private static let run = ServerRun.fresh()
}

/// A transaction over tables in memory: what rules about shares ask of one beside rows.
///
/// It has no records. What is asked of records fails.
final class SharingTestTransaction: MemoryRows, WriteTransaction {
    struct Noted: Hashable {
        var kind: CommittedChange.Kind
        var position: Int64
        var database: DatabaseID
        var origin: ChangeOrigin?
    }

    let tables = MemoryTables()
    let memory = RuleMemory()
    var nowMilliseconds: Int64 = 1_000
    var origin: ChangeOrigin?
    private(set) var positionsTaken = 0
    private var positions: [DatabaseID: Int64] = [:]
    /// In `RowBytes`, of zones and of the rest of databases.
    private(set) var zoneBytes: [ZoneKey: Int] = [:]
    private(set) var databaseBytes: [DatabaseID: Int] = [:]
    /// Positions to which zones were advanced.
    private(set) var advanced: [ZoneKey: Int64] = [:]
    private(set) var noted: [Noted] = []
    /// Calls that read rows.
    private(set) var readsCount = 0

    func takePosition(in database: DatabaseID) -> Int64 {
        self.positionsTaken += 1
        self.positions[database, default: 0] += 1
        return self.position(of: database)
    }

    func position(of database: DatabaseID) -> Int64 { self.positions[database] ?? 0 }

    func count(_ growth: StoredAmount, in database: DatabaseID) {
        self.databaseBytes[database, default: 0] += Int(growth.rowBytes)
    }

    func count(rowBytes: Int, in zone: ZoneKey) { self.zoneBytes[zone, default: 0] += rowBytes }

    func advance(_ zone: ZoneKey, to position: Int64) {
        self.advanced[zone] = position
        for var row in (try? self.tables.rows(RowRange(ZoneRow.byNumber, zone.database, zone.number))) ?? [] {
            row.position = position
            try? self.tables.put(row)
        }
    }

    func isWatched(_ database: DatabaseID) -> Bool { true }

    func note(_ kind: CommittedChange.Kind, at position: Int64, in database: DatabaseID) {
        self.noted.append(
            Noted(kind: kind, position: position, database: database, origin: self.origin)
        )
    }

    func deleteZone(_ zone: ZoneKey, named name: String) throws(StorageFailure) -> StoredAmount {
        try self.tables.delete(ZoneRow(database: zone.database, name: name, number: zone.number))
        return StoredAmount()
    }

    // MARK: Rows

    func rows(
        of table: Table,
        by index: Table.Index,
        keys: [[ColumnValue]]
    ) throws(StorageFailure) -> [[ColumnValue]?] {
        self.readsCount += 1
        return try self.tables.rows(of: table, by: index, keys: keys)
    }

    func rows(
        of table: Table,
        in range: TableRange,
        limit: Int
    ) throws(StorageFailure) -> [[ColumnValue]] {
        self.readsCount += 1
        return self.tables.rows(of: table, in: range, limit: limit)
    }

    func count(of table: Table, in range: TableRange, limit: Int) throws(StorageFailure) -> Int {
        self.readsCount += 1
        return self.tables.count(of: table, in: range, limit: limit)
    }

    static let absent = StorageFailure.unexpected(code: 99)
}
