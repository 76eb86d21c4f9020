import RecordModel
import RecordStore

extension WriterTransaction {
    func records(
        named names: ArraySlice<String>,
        in zone: ZoneKey,
        bytesMax: Int
    ) throws(StorageFailure) -> [StoredRecord?] {
        let statement = self.statements.records.find
        statement.bind(1, zone.database.rawValue)
        statement.bind(2, zone.number)
        var records: [StoredRecord?] = []
        records.reserveCapacity(names.count)
        var bytes = 0
        for name in names {
            self.workDone += 1
            statement.bind(3, name)
            guard try statement.step() else {
                records.append(nil)
                continue
            }
            defer { statement.reset() }
            let record = try self.record(from: statement)
            records.append(record)
            bytes += record.body.bytes.count
            if bytes > bytesMax { break }
        }
        return records
    }

    /// The record of a row that begins with `RecordColumns`.
    func record(from statement: HotStatement) throws(StorageFailure) -> StoredRecord {
        StoredRecord(
            number: statement.integer(RecordColumns.number),
            recordType: try self.typeName(statement.integer(RecordColumns.type)),
            position: statement.integer(1),
            system: SystemFields(
                createdMilliseconds: statement.integer(2),
                modifiedMilliseconds: statement.integer(3),
                createdBy: try self.authorName(statement.integer(4)),
                modifiedBy: try self.authorName(statement.integer(5))
            ),
            parent: statement.isNull(6) ? nil : statement.text(6),
            body: RecordBody(trusted: statement.bytes(7))
        )
    }

    func apply(
        _ writes: RecordWrites,
        to zone: ZoneKey,
        in environment: EnvironmentID
    ) throws(StorageFailure) -> [Int64] {
        var numbers: [Int64] = []
        numbers.reserveCapacity(writes.saves.count)
        for save in writes.saves {
            let number: Int64
            if let existing = save.existing {
                number = save.record.number
                try self.update(save.record, replacing: existing, in: zone)
            } else {
                number = try self.insert(save.record, named: save.name, in: zone, environment)
            }
            numbers.append(number)
            try self.change(save.entries, of: number, in: zone)
            for reference in save.references { try self.set(reference, by: save.name, in: zone) }
        }
        for delete in writes.deletes {
            try self.delete(delete, in: zone, environment)
            try self.change(delete.entries, of: delete.record.number, in: zone)
            for target in delete.targets {
                let reference = ReferenceChange(target: target, kinds: [], before: nil)
                try self.set(reference, by: delete.name, in: zone)
            }
        }
        return numbers
    }

    private func insert(
        _ record: StoredRecord,
        named name: String,
        in zone: ZoneKey,
        _ environment: EnvironmentID
    ) throws(StorageFailure) -> Int64 {
        self.workDone += 1
        let statement = self.statements.records.insert
        statement.bind(1, zone.database.rawValue)
        statement.bind(2, zone.number)
        statement.bind(4, try self.typeNumber(record.recordType, in: environment))
        statement.bind(5, record.position)
        statement.bind(6, record.system.createdMilliseconds)
        statement.bind(7, record.system.modifiedMilliseconds)
        statement.bind(8, try self.authorNumber(record.system.createdBy))
        statement.bind(9, try self.authorNumber(record.system.modifiedBy))
        statement.bind(10, record.parent)
        try statement.run(text: name, at: 3, bytes: record.body.bytes, at: 11)
        let number = statement.lastInsertedNumber
        self.changes.add(position: record.position, record: number, in: zone)
        // A record has one state: what is alive has no tombstone.
        self.statements.records.deleteTombstone.bind(1, zone.database.rawValue)
        self.statements.records.deleteTombstone.bind(2, zone.number)
        self.statements.records.deleteTombstone.bind(3, name)
        try self.statements.records.deleteTombstone.run()
        var rowBytes = RowBytes.record(named: name)
        if self.statements.records.deleteTombstone.changesCount > 0 {
            rowBytes -= RowBytes.tombstone(named: name)
        }
        self.changes.count(records: 1, bytes: record.body.bytes.count, rowBytes: rowBytes, in: zone)
        return number
    }

    private func update(
        _ record: StoredRecord,
        replacing existing: StoredRecord,
        in zone: ZoneKey
    ) throws(StorageFailure) {
        self.workDone += 1
        let statement = self.statements.records.update
        statement.bind(1, record.position)
        statement.bind(2, record.system.modifiedMilliseconds)
        statement.bind(3, try self.authorNumber(record.system.modifiedBy))
        statement.bind(4, record.parent)
        statement.bind(6, record.number)
        try statement.run(bytes: record.body.bytes, at: 5)
        self.changes.remove(position: existing.position, in: zone)
        self.changes.add(position: record.position, record: record.number, in: zone)
        self.changes.count(
            records: 0,
            bytes: record.body.bytes.count - existing.body.bytes.count,
            rowBytes: 0,
            in: zone
        )
    }

    private func delete(
        _ delete: RecordWrites.Delete,
        in zone: ZoneKey,
        _ environment: EnvironmentID
    ) throws(StorageFailure) {
        let (record, name, position) = (delete.record, delete.name, delete.position)
        self.workDone += 2
        self.statements.records.delete.bind(1, zone.database.rawValue)
        self.statements.records.delete.bind(2, zone.number)
        self.statements.records.delete.bind(3, name)
        try self.statements.records.delete.run()
        self.changes.remove(position: record.position, in: zone)
        self.changes.delete(at: position, in: zone)
        self.changes.count(
            records: -1,
            bytes: -record.body.bytes.count,
            rowBytes: RowBytes.tombstone(named: name) - RowBytes.record(named: name),
            in: zone
        )
        let statement = self.statements.records.insertTombstone
        statement.bind(1, zone.database.rawValue)
        statement.bind(2, zone.number)
        statement.bind(3, name)
        statement.bind(4, position)
        statement.bind(5, try self.typeNumber(record.recordType, in: environment))
        statement.bind(6, self.nowMilliseconds)
        statement.bind(7, try self.authorNumber(record.system.createdBy))
        statement.bind(8, delete.coveredBy?.rawValue)
        try statement.run()
    }

    func referrers(
        of targets: [String],
        in zone: ZoneKey,
        behind name: String,
        limit: Int
    ) throws(StorageFailure) -> [[Referrer]] {
        let statement = self.statements.references.find
        statement.bind(1, zone.database.rawValue)
        statement.bind(2, zone.number)
        var lists: [[Referrer]] = []
        lists.reserveCapacity(targets.count)
        var left = limit
        for target in targets where left > 0 {
            statement.bind(3, target)
            statement.bind(4, lists.isEmpty ? name : "")
            statement.bind(5, Int64(left))
            var referrers: [Referrer] = []
            while try statement.step() {
                let kinds = ReferenceKinds(rawValue: UInt8(truncatingIfNeeded: statement.integer(1)))
                referrers.append(Referrer(name: statement.text(0), kinds: kinds))
            }
            self.workDone += 1 + referrers.count / 8
            left -= referrers.count
            lists.append(referrers)
        }
        return lists
    }

    func countsOfDeleteSelfReferrers(
        of targets: [String],
        in zone: ZoneKey,
        limit: Int
    ) throws(StorageFailure) -> [Int] {
        let statement = self.statements.references.count
        statement.bind(1, zone.database.rawValue)
        statement.bind(2, zone.number)
        statement.bind(4, Int64(ReferenceKinds.deleteSelf.rawValue))
        statement.bind(5, Int64(limit))
        var counts: [Int] = []
        counts.reserveCapacity(targets.count)
        for target in targets {
            statement.bind(3, target)
            _ = try statement.step()
            defer { statement.reset() }
            let count = Int(statement.integer(0))
            self.workDone += 1 + count / 64
            counts.append(count)
        }
        return counts
    }

    private func set(
        _ reference: ReferenceChange,
        by referrer: String,
        in zone: ZoneKey
    ) throws(StorageFailure) {
        self.workDone += 1
        let kinds = reference.kinds
        let statement = kinds.isEmpty ? self.statements.references.delete : self.statements.references.set
        statement.bind(1, zone.database.rawValue)
        statement.bind(2, zone.number)
        statement.bind(3, reference.target)
        statement.bind(4, referrer)
        if !kinds.isEmpty { statement.bind(5, Int64(kinds.rawValue)) }
        try statement.run()
        let bytes = RowBytes.hold(of: reference.target, by: referrer)
        if kinds.isEmpty {
            if statement.changesCount > 0 { self.changes.count(rowBytes: -bytes, in: zone) }
        } else if reference.before == nil {
            self.changes.count(rowBytes: bytes, in: zone)
        }
    }
}
