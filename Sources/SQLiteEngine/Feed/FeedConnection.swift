import GRDBSQLite
import RecordModel
import RecordStore

/// Answers feeds within a snapshot of a read connection.
final class FeedConnection: FeedReader {
    private let connection: ReadConnection
    /// Of the connection's statements the one that finds records by number.
    private let fromNumber: HotStatement
    /// Where `fromNumber` is; `nil`: nowhere.
    private var reached: Int64?
    /// Where the tag of the record is that a visitor is lent.
    // SAFETY: written when a visit begins, and only one visit is under way at a time.
    private let changeTag = UnsafeMutableRawBufferPointer.allocate(
        byteCount: ChangeTag.digitsMax,
        alignment: 1
    )
    /// So many numbers further a record is looked for by steps, each of which costs a tenth of a search.
    private static let stepsMax: Int64 = 8

    private var statements: FeedStatements { self.connection.feedStatements }

    init(_ connection: ReadConnection) {
        self.connection = connection
        self.fromNumber = connection.feedStatements.fromNumber
    }

    deinit { self.changeTag.deallocate() }

    /// Lets go of the snapshot.
    func finish() {
        if self.reached != nil { self.fromNumber.reset() }
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
        let clientToken = Self.clientToken(statement)
        statement.reset()
        let owners = self.statements.zoneByNumber
        owners.bind(1, target.rawValue)
        owners.bind(2, number)
        guard try owners.step() else { return nil }
        defer { owners.reset() }
        var zone = Self.zone(owners, of: target)
        zone.clientToken = clientToken
        return zone
    }

    private static func zone(_ statement: HotStatement, of database: DatabaseID) -> FeedZone {
        var zone = FeedZone(
            name: statement.text(0),
            key: ZoneKey(database: database, number: statement.integer(1)),
            position: statement.integer(2),
            recordCount: statement.integer(3),
            byteCount: statement.integer(4)
        )
        zone.clientToken = Self.clientToken(statement)
        return zone
    }

    private static func clientToken(_ statement: HotStatement) -> [UInt8] {
        statement.isNull(FeedStatements.clientTokenColumn)
            ? [] : statement.bytes(FeedStatements.clientTokenColumn)
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
        let isThere: Bool
        // As `FeedFailure.wrapping` does; a page comes here, and to `row`, hundreds of times.
        do throws(StorageFailure) { isThere = try self.reach(number) } catch { throw .storage(error) }
        guard isThere,
            self.fromNumber.integer(FeedStatements.databaseColumn) == zone.database.rawValue,
            self.fromNumber.integer(FeedStatements.zoneColumn) == zone.number
        else { return nil }
        return try visit(self.row(self.fromNumber))
    }

    /// Moves `fromNumber` to a record; false: there is none.
    private func reach(_ number: Int64) throws(StorageFailure) -> Bool {
        var reached = self.reached
        // A step that fails leads nowhere.
        self.reached = nil
        if let place = reached, place <= number, number - place <= Self.stepsMax {
            while let place = reached, place < number { reached = try self.step() }
        } else {
            if reached != nil { self.fromNumber.reset() }
            self.fromNumber.bind(1, number)
            reached = try self.step()
        }
        self.reached = reached
        return reached == number
    }

    /// The number of the next record.
    private func step() throws(StorageFailure) -> Int64? {
        try self.fromNumber.step() ? self.fromNumber.integer(RecordColumns.number) : nil
    }

    private func row(_ statement: HotStatement) throws(FeedFailure) -> FeedRow {
        let position = statement.integer(RecordColumns.position)
        // SAFETY: a visit ends before the statement moves on, and before the snapshot does.
        let type: UnsafeRawBufferPointer
        let system: LentSystemFields
        do throws(StorageFailure) {
            type = try self.connection.lentTypeName(statement.integer(RecordColumns.type))
            system = try self.connection.lentSystemFields(statement)
        } catch {
            throw .storage(error)
        }
        return FeedRow(
            number: statement.integer(RecordColumns.number),
            position: position,
            record: LentRecord(
                name: statement.lent(FeedStatements.nameColumn),
                recordType: type,
                changeTag: ChangeTag.write(position, into: self.changeTag),
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
        changes.reserveCapacity(limit + ChangeBlock.entriesMax)
        while try statement.step() {
            // SAFETY: what is lent is read before the statement moves on.
            let isWhole = ChangeBlock.visit(statement.lent(0)) { entry in
                // The first block may begin before the position.
                guard entry.position > position else { return }
                changes.append(FeedChange(position: entry.position, record: entry.record))
            }
            guard isWhole else {
                statement.reset()
                throw .unexpected(code: SQLITE_CORRUPT)
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
}
