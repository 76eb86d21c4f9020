import GRDBSQLite
import RecordModel
import StorageContract

/// Reads of feeds within a snapshot.
extension ReadConnection {
    private static func feedZone(_ statement: HotStatement, of database: DatabaseID) -> FeedZone {
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
        let statement = isDescending ? self.feedStatements.descending : self.feedStatements.ascending
        self.bind(statement, zone)
        statement.bind(3, number ?? (isDescending ? .max : .min))
        defer { statement.reset() }
        while try FeedFailure.wrapping({ () throws(StorageFailure) in try statement.step() }) {
            guard try visit(self.row(statement)) else { return }
        }
    }

    func visitRecord(
        _ key: RecordKey,
        _ visit: (borrowing FeedRow) throws(FeedFailure) -> Bool
    ) throws(FeedFailure) -> Bool? {
        let isThere: Bool
        // Mirrors `FeedFailure.wrapping`; a page calls this, and `row`, hundreds of times.
        do throws(StorageFailure) { isThere = try self.recordCursor.reach(key.number) } catch {
            throw .storage(error)
        }
        let statement = self.recordCursor.statement
        guard isThere,
            statement.integer(FeedStatements.databaseColumn) == key.zone.database.rawValue,
            statement.integer(FeedStatements.zoneColumn) == key.zone.number
        else { return nil }
        return try visit(self.row(statement))
    }

    func visitRecords(
        named names: [String],
        in zone: ZoneKey,
        _ visit: (Int, borrowing FeedRow) throws(FeedFailure) -> Bool
    ) throws(FeedFailure) {
        let statement = self.feedStatements.byName
        self.bind(statement, zone)
        for (offset, name) in names.enumerated() {
            statement.bind(3, name)
            guard try FeedFailure.wrapping({ () throws(StorageFailure) in try statement.step() }) else {
                continue
            }
            defer { statement.reset() }
            guard try visit(offset, self.row(statement)) else { return }
        }
    }

    private func row(_ statement: HotStatement) throws(FeedFailure) -> FeedRow {
        let position = statement.integer(RecordColumns.position)
        // SAFETY: a visit ends before the statement steps and before the snapshot ends.
        let type: UnsafeRawBufferPointer
        let system: LentSystemFields
        do throws(StorageFailure) {
            type = try self.lentTypeName(statement.integer(RecordColumns.type))
            system = try self.lentSystemFields(statement)
        } catch {
            throw .storage(error)
        }
        return FeedRow(
            number: statement.integer(RecordColumns.number),
            position: position,
            record: LentRecord(
                name: statement.lent(FeedStatements.nameColumn),
                recordType: type,
                changeTag: ChangeTag.write(position, into: self.recordCursor.changeTag),
                system: system,
                parent: statement.lent(RecordColumns.parent),
                fields: statement.lent(RecordColumns.body)
            )
        )
    }

    func storedRecord(_ key: RecordKey) throws(StorageFailure) -> NamedRecord? {
        let statement = self.feedStatements.byNumber
        self.bind(statement, key.zone)
        statement.bind(3, key.number)
        guard try statement.step() else { return nil }
        defer { statement.reset() }
        return NamedRecord(
            name: statement.text(FeedStatements.nameColumn),
            stored: try statement.record(self)
        )
    }

    func positions(ofRecordNamed name: String, in zone: ZoneKey) throws(StorageFailure) -> RecordPositions? {
        let statement = self.feedStatements.positions
        self.bind(statement, zone)
        statement.bind(3, name)
        guard try statement.step() else { return nil }
        defer { statement.reset() }
        return RecordPositions(
            number: statement.integer(0),
            position: statement.integer(1),
            createdPosition: statement.integer(2)
        )
    }

    func bind(_ statement: HotStatement, _ zone: ZoneKey) {
        statement.bind(1, zone.database.rawValue)
        statement.bind(2, zone.number)
    }

    // MARK: Changes

    func changes(
        after position: Int64,
        in zone: ZoneKey,
        limit: Int
    ) throws(StorageFailure) -> Listed<FeedChange> {
        let statement = self.feedStatements.changes
        self.bind(statement, zone)
        statement.bind(3, position)
        var changes: [FeedChange] = []
        changes.reserveCapacity(limit + ChangeBlock.entriesMax)
        while try statement.step() {
            // SAFETY: the lent bytes are read before the statement steps.
            let isWhole = ChangeBlock.visit(Span(_unsafeBytes: statement.lent(0))) { entry in
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
        return Listed(changes, self.records(numbered: changes.map(\.record), in: zone))
    }

    func deletions(
        after position: Int64,
        in zone: ZoneKey,
        limit: Int
    ) throws(StorageFailure) -> [FeedDeletion] {
        let statement = self.feedStatements.deletions
        self.bind(statement, zone)
        statement.bind(3, position)
        statement.bind(4, Int64(limit))
        var deletions: [FeedDeletion] = []
        while try statement.step() {
            deletions.append(
                FeedDeletion(
                    position: statement.integer(0),
                    name: statement.text(1),
                    recordType: try self.typeName(statement.integer(2)),
                    createdBy: try self.authorName(statement.integer(3)),
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
        let statement = self.feedStatements.zones
        statement.bind(1, database.rawValue)
        statement.bind(2, position)
        statement.bind(3, Int64(limit))
        var zones: [FeedZone] = []
        while try statement.step() { zones.append(Self.feedZone(statement, of: database)) }
        return zones
    }

    func zoneDeletions(
        of database: DatabaseID,
        after position: Int64,
        limit: Int
    ) throws(StorageFailure) -> [FeedZoneDeletion] {
        let statement = self.feedStatements.zoneDeletions
        statement.bind(1, database.rawValue)
        statement.bind(2, position)
        statement.bind(3, Int64(limit))
        var deletions: [FeedZoneDeletion] = []
        while try statement.step() {
            deletions.append(FeedZoneDeletion(position: statement.integer(0), name: statement.text(1)))
        }
        return deletions
    }
}
