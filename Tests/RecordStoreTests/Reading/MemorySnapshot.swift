import RecordModel
import StorageContract

@testable import RecordStore

/// A snapshot of rows that a test names, in memory.
///
/// It has no changes and no indexes.
final class MemorySnapshot: MemoryRows, LocalSnapshot {
    struct RecordRow {
        var name: String
        var zone: ZoneKey
        var stored: StoredRecord
    }

    var records: [RecordRow] = []
    /// Names that were asked for together, a call each.
    private(set) var namesAsked: [[String]] = []
    /// The rows of declared tables.
    let tables: MemoryTables

    init(tables: MemoryTables = MemoryTables()) { self.tables = tables }

    // MARK: Databases and zones

    /// Adds a zone; in a shared database it leads to another database's zone.
    func add(zone name: String, in database: DatabaseID, leadingTo key: ZoneKey) throws {
        var row = ZoneRow(database: database, name: name, number: key.number)
        if key.database != database {
            row.targetDatabase = key.database
            row.targetZone = key.number
        }
        try self.tables.put(row)
    }

    func zone(named name: String, in database: DatabaseID) throws(StorageFailure) -> ZoneKey? {
        try self.tables.row(ZoneRow.byKey, database, name)?.contents
    }

    func zones(of database: DatabaseID, after position: Int64, limit: Int) -> [FeedZone] { [] }

    func zoneDeletions(of database: DatabaseID, after position: Int64, limit: Int) -> [FeedZoneDeletion] {
        []
    }

    // MARK: Records

    func records(named names: ArraySlice<String>, in zone: ZoneKey, bytesMax: Int) -> [StoredRecord?] {
        self.namesAsked.append(Array(names))
        var found: [StoredRecord?] = []
        var bytes = 0
        for name in names where bytes <= bytesMax {
            let record = self.records.first { $0.name == name && $0.zone == zone }?.stored
            bytes += record?.body.bytes.count ?? 0
            found.append(record)
        }
        return found
    }

    func storedRecord(_ key: RecordKey) -> NamedRecord? {
        self.records.first { $0.zone == key.zone && $0.stored.number == key.number }.map {
            NamedRecord(name: $0.name, stored: $0.stored)
        }
    }

    func positions(ofRecordNamed name: String, in zone: ZoneKey) -> RecordPositions? {
        self.records.first { $0.name == name && $0.zone == zone }.map {
            RecordPositions(number: $0.stored.number, position: $0.stored.position, createdPosition: 0)
        }
    }

    func visitRecords(
        of zone: ZoneKey,
        beyond number: Int64?,
        isDescending: Bool,
        _ visit: (borrowing FeedRow) throws(FeedFailure) -> Bool
    ) throws(FeedFailure) {}

    func visitRecord(
        _ key: RecordKey,
        _ visit: (borrowing FeedRow) throws(FeedFailure) -> Bool
    ) throws(FeedFailure) -> Bool? { nil }

    // MARK: Changes and indexes

    func changes(after position: Int64, in zone: ZoneKey, limit: Int) -> Listed<FeedChange> { Listed([]) }

    func deletions(after position: Int64, in zone: ZoneKey, limit: Int) -> [FeedDeletion] { [] }

    func entries(_ scan: EntryScan) -> Listed<EntryPosition> { Listed([]) }

    func numbers(_ scan: NumberScan) -> Listed<Int64> { Listed([]) }

    func countOfEntries(_ scan: EntryScan) -> Int { 0 }

    func contents(
        _ table: Table,
        of zone: ZoneKey,
        after key: [ColumnValue],
        limit: Int
    ) -> [[ColumnValue]] { [] }

    func areStored(_ rows: [[ColumnValue]], in table: Table) -> [Bool] { rows.map { _ in false } }
}

/// Alice, who owns the zone "notes", and Bob, whose shared database shows it.
struct ReadingWorld {
    static let alice = "_00000000000000000000000000000a11"
    static let bob = "_00000000000000000000000000000b0b"
    static let database = DatabaseID(rawValue: 1)
    static let bobsShared = DatabaseID(rawValue: 2)
    static let `public` = DatabaseID(rawValue: 3)
    static let notes = ZoneKey(database: database, number: 7)
    static let publicDefault = ZoneKey(database: `public`, number: 1)

    let snapshot = MemorySnapshot()

    init() throws {
        try self.snapshot.add(zone: "notes", in: Self.database, leadingTo: Self.notes)
        try self.snapshot.add(
            zone: "\(Self.alice)/notes",
            in: Self.bobsShared,
            leadingTo: Self.notes
        )
        try self.snapshot.add(
            zone: ZoneID.defaultZoneName,
            in: Self.public,
            leadingTo: Self.publicDefault
        )
    }

    static func requester(_ scope: DatabaseScope, _ user: String?) -> Requester {
        let database =
            switch scope {
            case .private: self.database
            case .shared: self.bobsShared
            case .public: self.public
            }
        return Requester(
            database: database,
            scope: scope,
            environment: EnvironmentID(rawValue: 1),
            userRecordName: user
        )
    }

    static let owner = requester(.private, alice)
    static let participant = requester(.shared, bob)

    static func id(_ name: String, of owner: String = "") -> RecordID {
        RecordID(zone: ZoneID(zoneName: "notes", ownerName: owner), recordName: name)
    }

    func add(
        _ name: String,
        _ number: Int64,
        in zone: ZoneKey = notes,
        createdBy creator: String = alice,
        parent: String? = nil,
        _ fields: [Field] = []
    ) {
        let stored = StoredRecord(
            number: number,
            recordType: "Note",
            position: number,
            system: SystemFields(
                createdMilliseconds: 1,
                modifiedMilliseconds: 2,
                createdBy: creator,
                modifiedBy: creator
            ),
            parent: parent,
            body: RecordBody(fields)
        )
        self.snapshot.records.append(.init(name: name, zone: zone, stored: stored))
    }

    /// Shares a record of Alice with Bob, and puts records under the share.
    func share(_ root: String?, _ number: Int64, with records: [Int64]) throws {
        let number = ShareNumber(rawValue: number)
        let name = root.map { "share of \($0)" } ?? ShareRecord.zoneWideName
        let share = StoredShare(number: number, zone: Self.notes, name: name, root: root)
        let tables = self.snapshot.tables
        try tables.put(ShareRow(share))
        try tables.put(
            ShareReaderRow(
                reader: Self.bobsShared,
                share: number,
                permission: .readOnly,
                role: .privateUser
            )
        )
        for record in records {
            try tables.put(MembershipRow(record: record, share: number, since: 1))
        }
    }
}
