import RecordModel
import StorageContract

@testable import RecordStore

/// Numbers of rows in place of rows, for what no declared table has.
final class HousekeepingModel: HousekeepingTransaction {
    static let tombstoneBytes = 60
    static let entryBytes = 30

    /// Rows of declared tables, and what was counted.
    let double = SharingTestTransaction()
    var transaction: any WriteTransaction { self.double }

    var work: Set<HousekeepingKind> = []
    /// Rows that are left of a zone, by kind.
    var contents: [ZoneKey: [UndeclaredRows: Int]] = [:]
    private(set) var removed: [(kind: UndeclaredRows, rows: Int)] = []
    var tombstones: [ZoneKey: Int] = [:]
    /// Tombstones that were removed, a call each.
    private(set) var expired: [Int] = []
    private var lastPositions: [ZoneKey: Int64] = [:]
    /// Times before which tombstones were removed.
    private(set) var times: Set<Int64> = []
    /// In the order of their numbers.
    var records: [IndexedRecords.Element] = []
    /// The pieces that were read.
    private(set) var pieces: [(from: Int64, below: Int64?, bounds: IndexedRecords.Bounds)] = []
    /// Entries that were added, by record.
    private(set) var entries: [Int64: [IndexEntry]] = [:]
    /// Entries of indexes in zones.
    var indexEntries: [ZoneKey: [Int64: Int]] = [:]
    var staleChanges = StaleChanges()
    /// Pieces of the order that might be read, a call each.
    private(set) var staleReads: [Int] = []

    private static func take(_ count: inout Int, limit: Int) -> Int {
        let taken = min(count, limit)
        count -= taken
        return taken
    }

    /// A zone was deleted.
    func sweep(_ zone: ZoneKey, bytes: Int64) throws {
        try self.double.tables.put(
            [[zone.database.columnValue, .integer(zone.number), .integer(bytes)]],
            in: SweepRow.table
        )
    }

    /// Zones that are to be swept.
    var zonesSwept: Int { get throws { try self.double.tables.count(RowRange(SweepRow.byKey)) } }

    /// Stores so many outcomes of requests in databases, whose IDs were made at a time.
    func setOutcomes(_ counts: [Int64: Int], milliseconds: UInt64 = 0) throws {
        for (database, count) in counts {
            for number in 0..<count {
                let id = RequestID(high: milliseconds << 16, low: UInt64(number + 1))
                try self.double.tables.put(
                    RequestRow(database: DatabaseID(rawValue: database), id: id, outcome: [1])
                )
            }
        }
    }

    /// Outcomes that are stored, by database.
    func outcomes() throws -> [Int64: Int] {
        let rows = try self.double.tables.rows(RowRange(RequestRow.byKey))
        return Dictionary(grouping: rows, by: \.database.rawValue).mapValues(\.count)
    }

    // MARK: HousekeepingTransaction

    func mayHave(_ kind: HousekeepingKind) -> Bool { self.work.contains(kind) }

    func finished(_ kind: HousekeepingKind) { self.work.remove(kind) }

    func remove(_ rows: UndeclaredRows, of zone: ZoneKey, limit: Int) -> Int {
        let taken = Self.take(&self.contents[zone, default: [:]][rows, default: 0], limit: limit)
        if taken > 0 { self.removed.append((rows, taken)) }
        return taken
    }

    func zoneWithTombstones(after zone: ZoneKey?) -> ZoneKey? {
        let last = zone.map { ($0.database.rawValue, $0.number) } ?? (.min, .min)
        return self.tombstones.keys.filter { ($0.database.rawValue, $0.number) > last }
            .min { ($0.database.rawValue, $0.number) < ($1.database.rawValue, $1.number) }
    }

    /// The last position is the number of those that were removed of the zone.
    func removeTombstones(
        of zone: ZoneKey,
        beforeMilliseconds time: Int64,
        limit: Int
    ) -> RemovedRows {
        let taken = Self.take(&self.tombstones[zone, default: 0], limit: limit)
        self.times.insert(time)
        self.expired.append(taken)
        self.lastPositions[zone, default: 0] += Int64(taken)
        return RemovedRows(
            count: taken,
            bytes: taken * Self.tombstoneBytes,
            lastPosition: self.lastPositions[zone] ?? 0
        )
    }

    func indexedRecords(
        ofTypes types: Set<Int64>,
        from number: Int64,
        below end: Int64?,
        bounds: IndexedRecords.Bounds
    ) -> IndexedRecords {
        self.pieces.append((number, end, bounds))
        var piece = IndexedRecords()
        for element in self.records where element.key.number >= number && element.key.number < end ?? .max {
            guard piece.records.count < bounds.records else {
                piece.next = element.key.number
                break
            }
            if types.contains(element.type) { piece.records.append(element) }
        }
        return piece
    }

    func add(_ entries: [RecordEntries]) {
        for element in entries { self.entries[element.key.number, default: []] += element.entries }
    }

    func removeEntries(ofIndex index: Int64, in zone: ZoneKey, limit: Int) -> RemovedRows {
        let taken = Self.take(&self.indexEntries[zone, default: [:]][index, default: 0], limit: limit)
        return RemovedRows(count: taken, bytes: taken * Self.entryBytes)
    }

    func removeStaleChanges(roundMax: Int, readsMax: Int) { self.staleReads.append(readsMax) }
}
