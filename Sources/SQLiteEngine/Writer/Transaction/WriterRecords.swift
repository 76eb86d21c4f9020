import RecordModel
import StorageContract

/// Rows of records and their tombstones.
///
/// A record's index entries, its references and its position in the order of changes are written
/// with it.
final class WriterRecords {
    private let statements: RecordStatements
    private let names: WriterNames
    private let order: ChangeOrder
    private let entries: WriterEntries
    private let references: WriterReferences
    private let meter: WorkMeter

    init(
        _ connection: OpaquePointer,
        names: WriterNames,
        order: ChangeOrder,
        entries: WriterEntries,
        references: WriterReferences,
        meter: WorkMeter
    ) throws(StorageFailure) {
        self.statements = try RecordStatements(connection)
        self.names = names
        self.order = order
        self.entries = entries
        self.references = references
        self.meter = meter
    }

    /// Reads one record by name.
    func find(_ name: String, in zone: ZoneKey) throws(StorageFailure) -> StoredRecord? {
        self.meter.done += 1
        return try self.statements.find.record(named: name, in: zone, self.names)
    }

    /// Reads records by name, up to the one that takes the total size of bodies beyond `bytesMax`.
    func find(
        _ names: ArraySlice<String>,
        in zone: ZoneKey,
        bytesMax: Int
    ) throws(StorageFailure) -> [StoredRecord?] {
        let records = try self.statements.find.records(
            named: names,
            in: zone,
            bytesMax: bytesMax,
            self.names
        )
        self.meter.done += records.count
        return records
    }

    func apply(
        _ writes: RecordWrites,
        to zone: ZoneKey,
        in environment: EnvironmentID,
        nowMilliseconds: Int64
    ) throws(StorageFailure) -> [Int64] {
        self.meter.done += writes.workOfStoredBodies
        var numbers: [Int64] = []
        numbers.reserveCapacity(writes.saves.count)
        // A span lends its elements; a loop over an array would copy each.
        let saves = writes.saves.span
        for index in saves.indices { numbers.append(try self.write(saves[index], in: zone, environment)) }
        for delete in writes.deletes {
            try self.delete(delete, in: zone, environment, nowMilliseconds)
            if delete.isDamaged {
                try self.entries.remove(of: delete.record.number, in: zone)
                try self.references.remove(by: delete.name, in: zone)
            }
            try self.entries.change(delete.entries, of: delete.record.number, in: zone)
            for target in delete.targets {
                let reference = ReferenceChange(target: target, kinds: [], before: nil)
                try self.references.set(reference, by: delete.name, in: zone)
            }
        }
        return numbers
    }

    /// Writes one save, and returns the number of its record.
    private func write(
        _ save: RecordWrites.Save,
        in zone: ZoneKey,
        _ environment: EnvironmentID
    ) throws(StorageFailure) -> Int64 {
        let number: Int64
        if let existing = save.existing {
            number = save.record.number
            try self.update(save.record, replacing: existing, in: zone)
        } else {
            number = try self.insert(save.record, named: save.name, in: zone, environment)
        }
        try self.entries.change(save.entries, of: number, in: zone)
        for reference in save.references { try self.references.set(reference, by: save.name, in: zone) }
        return number
    }

    private func insert(
        _ record: StoredRecord,
        named name: String,
        in zone: ZoneKey,
        _ environment: EnvironmentID
    ) throws(StorageFailure) -> Int64 {
        self.meter.done += 1
        let statement = self.statements.insert
        statement.bind(1, zone.database.rawValue)
        statement.bind(2, zone.number)
        statement.bind(4, try self.names.number(ofType: record.recordType, in: environment))
        statement.bind(5, record.position)
        statement.bind(6, record.system.createdMilliseconds)
        statement.bind(7, record.system.modifiedMilliseconds)
        statement.bind(8, try self.names.number(ofAuthor: record.system.createdBy))
        statement.bind(9, try self.names.number(ofAuthor: record.system.modifiedBy))
        statement.bind(10, record.parent)
        try statement.run(text: name, at: 3, bytes: record.body.bytes, at: 11)
        let number = statement.lastInsertedNumber
        self.order.pending.add(position: record.position, record: number, in: zone)
        // A record has one state: a live record has no tombstone.
        self.statements.deleteTombstone.bind(1, zone.database.rawValue)
        self.statements.deleteTombstone.bind(2, zone.number)
        self.statements.deleteTombstone.bind(3, name)
        try self.statements.deleteTombstone.run()
        var rowBytes = RowBytes.record(named: name)
        if self.statements.deleteTombstone.changesCount > 0 {
            rowBytes -= RowBytes.tombstone(named: name)
        }
        self.order.pending.count(records: 1, bytes: record.body.bytes.count, rowBytes: rowBytes, in: zone)
        return number
    }

    private func update(
        _ record: StoredRecord,
        replacing existing: StoredRecord,
        in zone: ZoneKey
    ) throws(StorageFailure) {
        self.meter.done += 1
        let statement = self.statements.update
        statement.bind(1, record.position)
        statement.bind(2, record.system.modifiedMilliseconds)
        statement.bind(3, try self.names.number(ofAuthor: record.system.modifiedBy))
        statement.bind(4, record.parent)
        statement.bind(6, record.number)
        try statement.run(bytes: record.body.bytes, at: 5)
        self.order.pending.remove(position: existing.position, in: zone)
        self.order.pending.add(position: record.position, record: record.number, in: zone)
        self.order.pending.count(
            records: 0,
            bytes: record.body.bytes.count - existing.body.bytes.count,
            rowBytes: 0,
            in: zone
        )
    }

    private func delete(
        _ delete: RecordWrites.Delete,
        in zone: ZoneKey,
        _ environment: EnvironmentID,
        _ nowMilliseconds: Int64
    ) throws(StorageFailure) {
        let (record, name, position) = (delete.record, delete.name, delete.position)
        self.meter.done += 2
        self.statements.delete.bind(1, zone.database.rawValue)
        self.statements.delete.bind(2, zone.number)
        self.statements.delete.bind(3, name)
        try self.statements.delete.run()
        self.order.pending.remove(position: record.position, in: zone)
        self.order.pending.delete(at: position, in: zone)
        self.order.pending.count(
            records: -1,
            bytes: -record.body.bytes.count,
            rowBytes: RowBytes.tombstone(named: name) - RowBytes.record(named: name),
            in: zone
        )
        let statement = self.statements.insertTombstone
        statement.bind(1, zone.database.rawValue)
        statement.bind(2, zone.number)
        statement.bind(3, name)
        statement.bind(4, position)
        statement.bind(5, try self.names.number(ofType: record.recordType, in: environment))
        statement.bind(6, nowMilliseconds)
        statement.bind(7, try self.names.number(ofAuthor: record.system.createdBy))
        statement.bind(8, delete.coveredBy?.rawValue)
        try statement.run()
    }
}
