import RecordModel
import StorageContract

/// The rows that housekeeping reads and removes.
final class PostgreSQLHousekeeping: HousekeepingTransaction {
    private let writer: PostgreSQLTransaction

    init(_ transaction: PostgreSQLTransaction) { self.writer = transaction }

    var transaction: any WriteTransaction { self.writer }

    // MARK: Pending work

    func mayHave(_ kind: HousekeepingKind) -> Bool { self.writer.knowledge.mayHave(kind) }

    func finished(_ kind: HousekeepingKind) { self.writer.knowledge.possibleWork.remove(kind) }

    // MARK: Removals

    func remove(_ rows: UndeclaredRows, of zone: ZoneKey, limit: Int) throws(StorageFailure) -> Int {
        self.writer.isChanged = true
        let parameters = zone.parameters + [SQLValue.integer(Int64(limit))]
        return try self.writer.connection.rows(rows.removal, parameters).changesCount
    }

    private static let firstZone = SQL(
        "SELECT database, zone FROM tidemark.tombstone ORDER BY database, zone LIMIT 1",
        reach: .store
    )
    private static let nextZone = SQL(
        """
        SELECT database, zone FROM tidemark.tombstone WHERE (database, zone) > ($1, $2)
        ORDER BY database, zone LIMIT 1
        """,
        reach: .store
    )

    func zoneWithTombstones(after zone: ZoneKey?) throws(StorageFailure) -> ZoneKey? {
        let rows =
            if let zone {
                try self.writer.connection.rows(Self.nextZone, zone.parameters)
            } else {
                try self.writer.connection.rows(Self.firstZone)
            }
        guard !rows.isEmpty else { return nil }
        return ZoneKey(database: DatabaseID(rawValue: rows.integer(0, 0)), number: rows.integer(0, 1))
    }

    /// Stops after one row if a zone's first tombstone is young enough, as in nearly every zone.
    private static let oldTombstones = SQL(
        """
        SELECT position, deleted_ms, name FROM tidemark.tombstone
        WHERE database = $1 AND zone = $2 AND (
            SELECT deleted_ms FROM tidemark.tombstone
            WHERE database = $1 AND zone = $2 ORDER BY position LIMIT 1
        ) < $4 ORDER BY position LIMIT $3
        """
    )
    private static let removeTombstones = SQL(
        "DELETE FROM tidemark.tombstone WHERE database = $1 AND zone = $2 AND position <= $3"
    )

    func removeTombstones(
        of zone: ZoneKey,
        beforeMilliseconds time: Int64,
        limit: Int
    ) throws(StorageFailure) -> RemovedRows {
        let rows = try self.writer.connection.rows(
            Self.oldTombstones,
            zone.parameters + [.integer(Int64(limit)), .integer(time)]
        )
        var removed = RemovedRows()
        for row in 0..<rows.count {
            guard rows.integer(row, 1) < time else { break }
            removed.lastPosition = rows.integer(row, 0)
            removed.count += 1
            removed.bytes += RowBytes.tombstone(named: rows.text(row, 2))
        }
        guard removed.count > 0 else { return removed }
        self.writer.isChanged = true
        try self.writer.connection.write(
            Self.removeTombstones,
            zone.parameters + [.integer(removed.lastPosition)]
        )
        return removed
    }

    // MARK: Indexes

    /// Records in the order of their numbers; the last column says whether their zone exists.
    private static let records = SQL(
        """
        SELECT \(RecordColumns.all), r.database, r.zone, EXISTS (
            SELECT 1 FROM tidemark."zone" AS z WHERE z.database = r.database AND z.number = r.zone)
        FROM tidemark.record AS r
        WHERE r.number >= $1 AND r.number < $2 ORDER BY r.number LIMIT $3
        """,
        reach: .store
    )

    /// Number of records that are read at once.
    private static let pieceMax = 64

    func indexedRecords(
        ofTypes types: Set<Int64>,
        from number: Int64,
        below end: Int64?,
        bounds: IndexedRecords.Bounds
    ) throws(StorageFailure) -> IndexedRecords {
        var piece = IndexedRecords()
        var (bytes, others) = (0, 0)
        var next = number
        while true {
            let found = try self.writer.connection.records(
                Self.records,
                [.integer(next), .integer(end ?? .max), .integer(Int64(Self.pieceMax))]
            )
            for row in 0..<found.count {
                let number = found.number(row)
                guard bytes < bounds.bytes, piece.records.count < bounds.records, others < bounds.others
                else {
                    piece.next = number
                    return piece
                }
                guard number < .max else { return piece }
                next = number + 1
                let element = Self.element(found, row)
                // A record of a zone that is being swept is in no zone any more.
                guard types.contains(element.type), found.rows.integer(row, RecordColumns.count + 2) != 0
                else {
                    others += 1
                    continue
                }
                bytes += element.record.body.bytes.count
                piece.records.append(element)
            }
            guard found.count == Self.pieceMax else { return piece }
        }
    }

    private static func element(_ found: RecordRows, _ row: Int) -> IndexedRecords.Element {
        let database = DatabaseID(rawValue: found.rows.integer(row, RecordColumns.count))
        let zone = ZoneKey(database: database, number: found.rows.integer(row, RecordColumns.count + 1))
        return IndexedRecords.Element(
            key: RecordKey(zone: zone, number: found.number(row)),
            type: found.rows.integer(row, RecordColumns.type),
            name: found.name(row),
            record: found.record(row)
        )
    }

    func add(_ entries: [RecordEntries]) throws(StorageFailure) {
        var zones: [ZoneKey: EntryChanges] = [:]
        for element in entries {
            let added = element.entries.map { (entry: $0, record: element.key.number) }
            zones[element.key.zone, default: EntryChanges()].added += added
        }
        for (zone, changes) in zones {
            try RecordIndexRows(transaction: self.writer, zone: zone).change(changes)
        }
    }

    private static let removeEntries = SQL(
        """
        DELETE FROM tidemark.index_entry WHERE (database, zone, index_number, value, record) IN (
            SELECT database, zone, index_number, value, record FROM tidemark.index_entry
            WHERE database = $1 AND zone = $2 AND index_number = $3 LIMIT $4)
        RETURNING octet_length(value)
        """
    )

    func removeEntries(
        ofIndex index: Int64,
        in zone: ZoneKey,
        limit: Int
    ) throws(StorageFailure) -> RemovedRows {
        self.writer.isChanged = true
        let rows = try self.writer.connection.rows(
            Self.removeEntries,
            zone.parameters + [.integer(index), .integer(Int64(limit))]
        )
        let bytes = (0..<rows.count).reduce(0) { $0 + RowBytes.entryBase + Int(rows.integer($1, 0)) }
        return RemovedRows(count: rows.count, bytes: bytes)
    }

    // MARK: Stale changes

    var staleChanges: StaleChanges { self.writer.knowledge.staleChanges }

    func removeStaleChanges(roundMax: Int, readsMax: Int) {}
}

extension UndeclaredRows {
    /// Deletes some of a zone's rows.
    fileprivate var removal: SQL {
        let (table, key) =
            switch self {
            case .records: ("record", "number")
            case .tombstones: ("tombstone", "name")
            case .references: ("hold", "target, holder")
            case .changes: ("change", "position")
            case .entries: ("index_entry", "index_number, value, record")
            }
        return SQL(
            """
            DELETE FROM tidemark.\(table) WHERE (database, zone, \(key)) IN (
                SELECT database, zone, \(key) FROM tidemark.\(table)
                WHERE database = $1 AND zone = $2 LIMIT $3)
            """
        )
    }
}
