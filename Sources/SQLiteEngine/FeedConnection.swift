import GRDBSQLite
import RecordModel
import RecordStore

/// Answers feeds within a snapshot of a read connection.
final class FeedConnection: FeedReader {
    private let connection: ReadConnection
    /// Where `fromNumber` is; `nil`: nowhere.
    private var reached: Int64?
    /// So many numbers further a record is looked for by steps, each of which costs a tenth of a search.
    private static let stepsMax: Int64 = 8

    private var statements: FeedStatements { self.connection.feedStatements }

    init(_ connection: ReadConnection) {
        self.connection = connection
    }

    /// Lets go of the snapshot.
    func finish() {
        if self.reached != nil { self.statements.fromNumber.reset() }
        self.reached = nil
    }

    func state(of database: DatabaseID) throws(StorageFailure) -> FeedState? {
        let statement = self.statements.state
        statement.bind(1, database.rawValue)
        guard try statement.step() else { return nil }
        defer { statement.reset() }
        return FeedState(
            position: statement.integer(0),
            epoch: statement.integer(1),
            tombstonesGoneThrough: statement.integer(2)
        )
    }

    func feedZone(named name: String, in database: DatabaseID) throws(StorageFailure) -> FeedZone? {
        let statement = self.statements.zone
        statement.bind(1, database.rawValue)
        statement.bind(2, name)
        guard try statement.step() else { return nil }
        if statement.isNull(FeedStatements.targetColumn) {
            defer { statement.reset() }
            return Self.zone(statement, of: database)
        }
        let target = DatabaseID(rawValue: statement.integer(FeedStatements.targetColumn))
        let number = statement.integer(FeedStatements.targetColumn + 1)
        statement.reset()
        let owners = self.statements.zoneByNumber
        owners.bind(1, target.rawValue)
        owners.bind(2, number)
        guard try owners.step() else { return nil }
        defer { owners.reset() }
        return Self.zone(owners, of: target)
    }

    private static func zone(_ statement: HotStatement, of database: DatabaseID) -> FeedZone {
        FeedZone(
            name: statement.text(0),
            key: ZoneKey(database: database, number: statement.integer(1)),
            position: statement.integer(2),
            recordCount: statement.integer(3),
            byteCount: statement.integer(4)
        )
    }

    // MARK: Records

    func visitRecords(
        of zone: ZoneKey,
        beyond number: Int64?,
        isDescending: Bool,
        _ visit: (borrowing FeedRow) throws(FeedFailure) -> Bool
    ) throws(FeedFailure) {
        let statement = isDescending ? self.statements.descending : self.statements.ascending
        self.bind(statement, zone)
        statement.bind(3, number ?? (isDescending ? .max : .min))
        defer { statement.reset() }
        while try FeedFailure.wrapping({ () throws(StorageFailure) in try statement.step() }) {
            guard try visit(self.row(statement)) else { return }
        }
    }

    func visitRecord(
        numbered number: Int64,
        in zone: ZoneKey,
        _ visit: (borrowing FeedRow) throws(FeedFailure) -> Bool
    ) throws(FeedFailure) -> Bool? {
        let statement = self.statements.fromNumber
        guard try FeedFailure.wrapping({ () throws(StorageFailure) in try self.reach(number) }),
            statement.integer(FeedStatements.databaseColumn) == zone.database.rawValue,
            statement.integer(FeedStatements.zoneColumn) == zone.number
        else { return nil }
        return try visit(self.row(statement))
    }

    /// Moves `fromNumber` to a record; false: there is none.
    private func reach(_ number: Int64) throws(StorageFailure) -> Bool {
        let statement = self.statements.fromNumber
        if let reached, (reached...reached + Self.stepsMax).contains(number) {
            while let place = self.reached, place < number { try self.step(statement) }
        } else {
            self.finish()
            statement.bind(1, number)
            try self.step(statement)
        }
        return self.reached == number
    }

    private func step(_ statement: HotStatement) throws(StorageFailure) {
        self.reached = nil
        if try statement.step() { self.reached = statement.integer(RecordColumns.number) }
    }

    private func row(_ statement: HotStatement) throws(FeedFailure) -> FeedRow {
        let position = statement.integer(RecordColumns.position)
        let (type, system) = try FeedFailure.wrapping { () throws(StorageFailure) in
            (
                try self.connection.typeName(statement.integer(RecordColumns.type)),
                try self.connection.systemFields(statement)
            )
        }
        // SAFETY: a visit ends before the statement moves on.
        return FeedRow(
            number: statement.integer(RecordColumns.number),
            position: position,
            record: LentRecord(
                name: statement.lent(FeedStatements.nameColumn),
                recordType: type,
                changeTag: ChangeTag.text(of: position),
                system: system,
                parent: statement.lent(RecordColumns.parent),
                fields: statement.lent(RecordColumns.body)
            )
        )
    }

    func record(numbered number: Int64, in zone: ZoneKey) throws(StorageFailure) -> NamedRecord? {
        let statement = self.statements.byNumber
        self.bind(statement, zone)
        statement.bind(3, number)
        guard try statement.step() else { return nil }
        defer { statement.reset() }
        return try self.record(statement)
    }

    func place(ofRecordNamed name: String, in zone: ZoneKey) throws(StorageFailure) -> FeedPlace? {
        let statement = self.statements.place
        self.bind(statement, zone)
        statement.bind(3, name)
        guard try statement.step() else { return nil }
        defer { statement.reset() }
        return FeedPlace(
            number: statement.integer(0),
            position: statement.integer(1),
            createdPosition: statement.integer(2)
        )
    }

    private func record(_ statement: HotStatement) throws(StorageFailure) -> NamedRecord {
        NamedRecord(
            name: statement.text(FeedStatements.nameColumn),
            stored: try self.connection.stored(statement)
        )
    }

    private func bind(_ statement: HotStatement, _ zone: ZoneKey) {
        statement.bind(1, zone.database.rawValue)
        statement.bind(2, zone.number)
    }

    // MARK: Changes

    func changes(
        after position: Int64,
        in zone: ZoneKey,
        limit: Int
    ) throws(StorageFailure) -> [FeedChange] {
        let statement = self.statements.changes
        self.bind(statement, zone)
        statement.bind(3, position)
        var changes: [FeedChange] = []
        while try statement.step() {
            guard let block = ChangeBlock.decode(statement.bytes(0)) else {
                statement.reset()
                throw .unexpected(code: SQLITE_CORRUPT)
            }
            // The first block may begin before the position.
            for entry in block where entry.position > position {
                changes.append(FeedChange(position: entry.position, record: entry.record))
            }
            if changes.count >= limit { break }
        }
        statement.reset()
        return changes
    }

    func deletions(
        after position: Int64,
        in zone: ZoneKey,
        limit: Int
    ) throws(StorageFailure) -> [FeedDeletion] {
        let statement = self.statements.deletions
        self.bind(statement, zone)
        statement.bind(3, position)
        statement.bind(4, Int64(limit))
        var deletions: [FeedDeletion] = []
        while try statement.step() {
            deletions.append(
                FeedDeletion(
                    position: statement.integer(0),
                    name: statement.text(1),
                    recordType: try self.connection.typeName(statement.integer(2)),
                    createdBy: try self.connection.authorName(statement.integer(3)),
                    share: statement.isNull(4) ? nil : ShareNumber(rawValue: statement.integer(4))
                )
            )
        }
        return deletions
    }

    // MARK: Zones

    func zones(
        of database: DatabaseID,
        after position: Int64,
        limit: Int
    ) throws(StorageFailure) -> [FeedZone] {
        let statement = self.statements.zones
        statement.bind(1, database.rawValue)
        statement.bind(2, position)
        statement.bind(3, Int64(limit))
        var zones: [FeedZone] = []
        while try statement.step() { zones.append(Self.zone(statement, of: database)) }
        return zones
    }

    func zoneDeletions(
        of database: DatabaseID,
        after position: Int64,
        limit: Int
    ) throws(StorageFailure) -> [FeedZoneDeletion] {
        let statement = self.statements.zoneDeletions
        statement.bind(1, database.rawValue)
        statement.bind(2, position)
        statement.bind(3, Int64(limit))
        var deletions: [FeedZoneDeletion] = []
        while try statement.step() {
            deletions.append(FeedZoneDeletion(position: statement.integer(0), name: statement.text(1)))
        }
        return deletions
    }

    // MARK: Shares

    func sharedAccess(to zone: ZoneKey, of reader: DatabaseID) throws(StorageFailure) -> SharedAccess {
        try self.connection.shares.access(to: zone, of: reader)
    }

    func cover(of record: Int64) throws(StorageFailure) -> (share: ShareNumber, since: Int64)? {
        try self.connection.shares.cover(of: record)
    }

    func coverChanges(
        after position: Int64,
        in zone: ZoneKey,
        limit: Int
    ) throws(StorageFailure) -> [CoverChange] {
        try self.connection.shares.coverChanges(after: position, in: zone, limit: limit) {
            (number) throws(StorageFailure) in
            try self.connection.typeName(number)
        }
    }

    // MARK: Access

    func access(toType type: String, for requester: Requester) throws(StorageFailure) -> TypeAccess {
        try self.connection.grants.access(toType: type, for: requester)
    }

    func recordTypes(in environment: EnvironmentID) throws(StorageFailure) -> [String] {
        let statement = self.statements.recordTypes
        statement.bind(1, environment.rawValue)
        var types: [String] = []
        while try statement.step() { types.append(statement.text(0)) }
        return types
    }
}
