import RecordModel
import StorageContract

/// The rows of a transaction that the rules of housekeeping read and remove.
final class MemoryHousekeeping: HousekeepingTransaction {
    private let memory: MemoryTransaction

    init(_ transaction: MemoryTransaction) { self.memory = transaction }

    var transaction: any WriteTransaction { self.memory }

    // MARK: What there is to do

    func mayHave(_ kind: HousekeepingKind) -> Bool {
        kind.tables.contains {
            self.memory.count(of: $0, in: TableRange(index: $0.key), limit: 1) > 0
        }
    }

    func finished(_ kind: HousekeepingKind) {}

    // MARK: Removals

    /// The contents are one value, and go as one.
    func remove(_ rows: UndeclaredRows, of zone: ZoneKey, limit: Int) -> Int {
        self.memory.contents.zones[zone] = nil
        return 0
    }

    func zoneWithTombstones(after zone: ZoneKey?) -> ZoneKey? {
        func order(_ zone: ZoneKey) -> Pair<Int64, Int64> { Pair(zone.database.rawValue, zone.number) }
        let zones = self.memory.contents.zones.filter { !$0.value.deletions.isEmpty }.keys
        let later = zones.filter { key in zone.map { order(key) > order($0) } ?? true }
        return later.min { order($0) < order($1) }
    }

    func removeTombstones(
        of zone: ZoneKey,
        beforeMilliseconds time: Int64,
        limit: Int
    ) -> RemovedRows {
        var removed = RemovedRows()
        let going = self.memory.zone(zone).deletions.entries.prefix(limit)
            .prefix { $0.value.deletedMilliseconds < time }
        for (position, deletion) in going {
            self.memory.contents.zones[zone]?.deletions[position] = nil
            self.memory.contents.zones[zone]?.tombstones[Name(deletion.feed.name)] = nil
            removed.count += 1
            removed.bytes += RowBytes.tombstone(named: deletion.feed.name)
            removed.lastPosition = position
        }
        return removed
    }

    // MARK: Indexes

    func indexedRecords(
        ofTypes types: Set<Int64>,
        from number: Int64,
        below end: Int64?,
        bounds: IndexedRecords.Bounds
    ) throws(StorageFailure) -> IndexedRecords {
        var records: [IndexedRecords.Element] = []
        for type in types {
            let table = RecordTypeRow.table
            guard let row = self.memory.all(table, .integer(type)).first else { continue }
            let environment = EnvironmentID(rawValue: table.integer("environment", of: row))
            for zone in try self.memory.existingZones(of: environment) {
                records += self.records(of: zone, named: table.text("name", of: row), type: type)
            }
        }
        records = records.filter { $0.key.number >= number && $0.key.number < end ?? .max }
        records.sort { $0.key.number < $1.key.number }
        var piece = IndexedRecords()
        var bytes = 0
        for element in records {
            guard bytes < bounds.bytes, piece.records.count < bounds.records else {
                piece.next = element.key.number
                break
            }
            bytes += element.record.body.bytes.count
            piece.records.append(element)
        }
        return piece
    }

    /// The records of one type in a zone.
    private func records(of zone: ZoneKey, named name: String, type: Int64) -> [IndexedRecords.Element] {
        self.memory.zone(zone).records.entries.filter { $0.value.stored.recordType == name }.map {
            IndexedRecords.Element(
                key: RecordKey(zone: zone, number: $0.key),
                type: type,
                name: $0.value.name,
                record: $0.value.stored
            )
        }
    }

    func add(_ entries: [RecordEntries]) {
        for element in entries { self.memory.add(element.entries, of: element.key) }
    }

    func removeEntries(ofIndex index: Int64, in zone: ZoneKey, limit: Int) -> RemovedRows {
        var removed = RemovedRows()
        let going = self.memory.zone(zone).entries[index]?.entries.prefix(limit) ?? []
        for (key, _) in going {
            self.memory.contents.zones[zone]?.entries[index]?[key] = nil
            removed.count += 1
            removed.bytes += RowBytes.entry(IndexEntry(index: index, value: key.first.list))
        }
        return removed
    }

    // MARK: Stale changes

    /// Nothing is kept that is stale.
    var staleChanges: StaleChanges { StaleChanges() }

    func removeStaleChanges(roundMax: Int, readsMax: Int) {}
}
