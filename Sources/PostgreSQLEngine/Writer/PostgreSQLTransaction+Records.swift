import RecordModel
import StorageContract

/// Records and their tombstones.
///
/// Each kind of row of a write set is one statement with an array for each column.
extension PostgreSQLTransaction {
    func record(named name: String, in zone: ZoneKey) throws(StorageFailure) -> StoredRecord? {
        try self.require(zone.database)
        self.workDone += 1
        if let known = self.known.record(named: name, in: zone) { return known }
        return try self.connection.record(named: name, in: zone)
    }

    func records(
        named names: ArraySlice<String>,
        in zone: ZoneKey,
        bytesMax: Int
    ) throws(StorageFailure) -> [StoredRecord?] {
        try self.require(zone.database)
        let records: [StoredRecord?]
        if let known = self.known.records(named: names, in: zone, bytesMax: bytesMax) {
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
        var contents = RecordContents(self, zone, in: environment)
        var numbers: [Int64] = []
        var entries = EntryChanges()
        var references = ReferenceChanges()
        for save in writes.saves {
            let number = try contents.add(save)
            numbers.append(number)
            entries.add(save.entries, of: number)
            for change in save.references { references.add(change, by: save.name) }
        }
        for delete in writes.deletes {
            entries.add(delete.entries, of: delete.record.number)
            for target in delete.targets { references.remove(target, by: delete.name) }
        }
        self.workDone += writes.saves.count + 2 * writes.deletes.count + entries.count + references.count
        self.workDone += writes.workOfStoredBodies
        try contents.write(deletes: writes.deletes)
        let rows = RecordIndexRows(transaction: self, zone: zone)
        try rows.change(entries)
        try rows.change(references)
        try rows.removeAll(of: writes.deletes.filter(\.isDamaged))
        self.known.note(writes, numbers: numbers, in: zone)
        return numbers
    }
}
