import RecordModel
import RecordStore

/// Records and their tombstones.
///
/// Each kind of row of a write set is one statement with an array for each column.
extension PostgreSQLTransaction {
    func record(named name: String, in zone: ZoneKey) throws(StorageFailure) -> StoredRecord? {
        try self.require(zone.database)
        self.workDone += 1
        if let known = self.prefetched.record(named: name, in: zone) { return known }
        return try self.connection.record(named: name, in: zone)
    }

    func records(
        named names: ArraySlice<String>,
        in zone: ZoneKey,
        bytesMax: Int
    ) throws(StorageFailure) -> [StoredRecord?] {
        try self.require(zone.database)
        let records: [StoredRecord?]
        if let known = self.prefetched.records(named: names, in: zone, bytesMax: bytesMax) {
            records = known
        } else {
            records = try self.connection.records(named: names, in: zone, bytesMax: bytesMax)
        }
        self.workDone += records.count
        return records
    }

    @discardableResult
    func apply(
        _ writes: RecordWrites,
        to zone: ZoneKey,
        in environment: EnvironmentID
    ) throws(StorageFailure) -> [Int64] {
        try self.require(zone.database)
        var numbers: [Int64] = []
        var created: [(name: String, record: StoredRecord)] = []
        var updated: [StoredRecord] = []
        var left: [Int64] = []
        var entries = EntryChanges()
        var references = ReferenceChanges()
        for save in writes.saves {
            var record = save.record
            if let existing = save.existing {
                updated.append(record)
                left.append(existing.position)
                let bytes = record.body.bytes.count - existing.body.bytes.count
                self.growth.count(rowBytes: 0, bytes: bytes, in: zone)
            } else {
                record.number = try self.takeRecordNumber()
                created.append((save.name, record))
                self.growth.count(
                    rowBytes: RowBytes.record(named: save.name),
                    records: 1,
                    bytes: record.body.bytes.count,
                    in: zone
                )
            }
            numbers.append(record.number)
            self.advance(zone, to: record.position)
            entries.add(save.entries, of: record.number)
            for change in save.references { references.add(change, by: save.name) }
        }
        for delete in writes.deletes {
            left.append(delete.record.position)
            entries.add(delete.entries, of: delete.record.number)
            for target in delete.targets { references.remove(target, by: delete.name) }
        }
        self.workDone += writes.saves.count + 2 * writes.deletes.count + entries.count + references.count
        let contents = RecordContents(transaction: self, zone: zone, environment: environment)
        try contents.create(created)
        try contents.update(updated)
        try contents.delete(writes.deletes)
        let changes = zip(numbers, writes.saves.map(\.record.position))
        let places = RecordPlaces(transaction: self, zone: zone)
        self.deferred.move(changes.map { ($0, $1) }, from: left, in: zone)
        try places.change(entries)
        try places.change(references)
        self.prefetched.note(writes, numbers: numbers, in: zone)
        return numbers
    }
}
