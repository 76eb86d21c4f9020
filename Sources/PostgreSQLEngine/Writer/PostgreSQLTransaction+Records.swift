import RecordModel
import RecordStore

/// Records and their tombstones.
///
/// Each kind of row of a write set is one statement with an array for each column.
extension PostgreSQLTransaction {
    func record(named name: String, in zone: ZoneKey) throws(StorageFailure) -> StoredRecord? {
        try self.require(zone.database)
        self.workDone += 1
        return try self.connection.record(named: name, in: zone)
    }

    func records(
        named names: ArraySlice<String>,
        in zone: ZoneKey,
        bytesMax: Int
    ) throws(StorageFailure) -> [StoredRecord?] {
        try self.require(zone.database)
        let records = try self.connection.records(named: names, in: zone, bytesMax: bytesMax)
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
        try self.create(created, in: zone, environment)
        try self.update(updated, in: zone)
        try self.delete(writes.deletes, in: zone, environment)
        let changes = zip(numbers, writes.saves.map(\.record.position))
        let places = RecordPlaces(transaction: self, zone: zone)
        try places.move(changes.map { ($0, $1) }, from: left)
        try places.change(entries)
        try places.change(references)
        return numbers
    }

    // MARK: Rows of records

    private func create(
        _ created: [(name: String, record: StoredRecord)],
        in zone: ZoneKey,
        _ environment: EnvironmentID
    ) throws(StorageFailure) {
        guard !created.isEmpty else { return }
        var (types, creators, modifiers): ([Int64], [Int64], [Int64]) = ([], [], [])
        for (_, record) in created {
            types.append(try self.number(ofType: record.recordType, in: environment))
            creators.append(try self.number(ofAuthor: record.system.createdBy))
            modifiers.append(try self.number(ofAuthor: record.system.modifiedBy))
        }
        let records = created.map(\.record)
        let names = created.map(\.name)
        try self.connection.write(
            RecordSQL.insert,
            zone.parameters + [
                .integers(records.map(\.number)), .texts(names), .integers(types),
                .integers(records.map(\.position)), .integers(records.map(\.system.createdMilliseconds)),
                .integers(records.map(\.system.modifiedMilliseconds)), .integers(creators),
                .integers(modifiers), .texts(records.map(\.parent)),
                .byteStrings(records.map(\.body.bytes)),
            ]
        )
        // A record has one state: what is alive has no tombstone.
        try self.connection.write(RecordSQL.removeTombstones, zone.parameters + [.texts(names)]) { removed in
            for row in 0..<removed.count {
                self.growth.count(rowBytes: -RowBytes.tombstone(named: removed.text(row, 0)), in: zone)
            }
        }
    }

    private func update(_ records: [StoredRecord], in zone: ZoneKey) throws(StorageFailure) {
        guard !records.isEmpty else { return }
        var modifiers: [Int64] = []
        for record in records { modifiers.append(try self.number(ofAuthor: record.system.modifiedBy)) }
        try self.connection.write(
            RecordSQL.update,
            zone.parameters + [
                .integers(records.map(\.number)), .integers(records.map(\.position)),
                .integers(records.map(\.system.modifiedMilliseconds)), .integers(modifiers),
                .texts(records.map(\.parent)), .byteStrings(records.map(\.body.bytes)),
            ]
        )
    }

    private func delete(
        _ deletes: [RecordWrites.Delete],
        in zone: ZoneKey,
        _ environment: EnvironmentID
    ) throws(StorageFailure) {
        guard !deletes.isEmpty else { return }
        var (types, creators): ([Int64], [Int64]) = ([], [])
        for delete in deletes {
            types.append(try self.number(ofType: delete.record.recordType, in: environment))
            creators.append(try self.number(ofAuthor: delete.record.system.createdBy))
            self.advance(zone, to: delete.position)
            self.growth.count(
                rowBytes: RowBytes.tombstone(named: delete.name) - RowBytes.record(named: delete.name),
                records: -1,
                bytes: -delete.record.body.bytes.count,
                in: zone
            )
        }
        try self.connection.write(
            RecordSQL.remove,
            zone.parameters + [.integers(deletes.map(\.record.number))]
        )
        try self.connection.write(
            RecordSQL.insertTombstones,
            zone.parameters + [
                .integer(self.nowMilliseconds), .texts(deletes.map(\.name)),
                .integers(deletes.map(\.position)), .integers(types), .integers(creators),
                .integers(deletes.map { $0.coveredBy?.rawValue }),
            ]
        )
    }
}
