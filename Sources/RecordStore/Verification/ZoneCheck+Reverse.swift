import RecordModel
import StorageContract

// Rows that name records, and the amounts for which they count.
extension ZoneCheck {
    mutating func checkReferences(
        after key: [ColumnValue],
        _ checked: CheckedSnapshot
    ) throws(StorageFailure) {
        let rows = try checked.snapshot.contents(
            ContentTables.reference,
            of: self.key,
            after: key,
            limit: Self.bodiesMax
        )
        var references: [(target: String, referrer: String, kinds: ReferenceKinds)] = []
        for row in rows {
            guard let target = String(columnValue: row[2]), let referrer = String(columnValue: row[3]),
                let kinds = Int64(columnValue: row[4])
            else { throw .unexpected(code: 0) }
            self.counted.rowBytes += Int64(RowBytes.reference(of: target, by: referrer))
            let known = ReferenceKinds(rawValue: UInt8(truncatingIfNeeded: kinds))
            references.append((target, referrer, known))
        }
        let names = Set(references.flatMap { [ExactName($0.target), ExactName($0.referrer)] })
        let records = try checked.records(named: names, in: self.key)
        self.work += rows.count + records.values.reduce(0) { $0 + $1.body.bytes.count / 1_024 }
        for (target, referrer, kinds) in references {
            guard let record = records[ExactName(referrer)] else {
                self.find(.referenceStray, record: referrer, "to \(target)")
                continue
            }
            guard !record.isDamaged else { continue }
            if References(body: record.body, parent: record.parent).kinds[ExactName(target)] == nil {
                self.find(.referenceStray, record: referrer, "to \(target)")
            } else if !kinds.isDisjoint(with: .keeping), records[ExactName(target)] == nil {
                self.find(.referenceTargetMissing, record: referrer, "to \(target)")
            }
        }
        let last = rows.last.map { Array($0[2...3]) } ?? []
        self.step = rows.count == Self.bodiesMax ? .references(after: last) : .tombstones(after: [])
    }

    mutating func checkTombstones(
        after key: [ColumnValue],
        upTo zonePosition: Int64,
        _ checked: CheckedSnapshot
    ) throws(StorageFailure) {
        let database = try checked.snapshot.row(DatabaseRow.byKey, self.key.database)
        let end = max(zonePosition, database?.position ?? 0)
        let rows = try checked.snapshot.contents(
            ContentTables.tombstone,
            of: self.key,
            after: key,
            limit: Self.rowsMax
        )
        var names: Set<ExactName> = []
        for row in rows {
            guard let name = String(columnValue: row[2]), let position = Int64(columnValue: row[3]) else {
                throw .unexpected(code: 0)
            }
            self.counted.rowBytes += Int64(RowBytes.tombstone(named: name))
            names.insert(ExactName(name))
            if (1...max(1, end)).contains(position) {
                self.lastPosition = max(self.lastPosition, position)
            } else {
                self.find(.tombstonePosition, record: name, "position \(position)")
            }
        }
        self.work += rows.count
        for name in try checked.records(named: names, in: self.key).keys.sorted() {
            self.find(.recordAndTombstone, record: name.text)
        }
        let last = rows.last.map { Array($0[2...2]) } ?? []
        self.step = rows.count == Self.rowsMax ? .tombstones(after: last) : .entries(after: [])
    }

    mutating func countEntries(
        after key: [ColumnValue],
        _ checked: CheckedSnapshot
    ) throws(StorageFailure) {
        let rows = try checked.snapshot.contents(
            ContentTables.entry,
            of: self.key,
            after: key,
            limit: Self.rowsMax
        )
        for row in rows {
            guard let index = Int64(columnValue: row[2]), let value = [UInt8](columnValue: row[3]) else {
                throw .unexpected(code: 0)
            }
            self.foundEntries[index, default: 0] += 1
            self.counted.rowBytes += Int64(RowBytes.entry(IndexEntry(index: index, value: value)))
        }
        self.work += rows.count
        let last = rows.last.map { Array($0[2...4]) } ?? []
        self.step = rows.count == Self.rowsMax ? .entries(after: last) : .uses(after: nil)
    }

    /// Finds the entries that no value of a record has.
    mutating func findStrays(
        _ indexes: [Int64],
        after position: EntryPosition?,
        _ checked: CheckedSnapshot
    ) throws(StorageFailure) {
        guard let index = indexes.first else {
            self.step = .end
            return
        }
        guard try checked.fieldIndexes().contains(index) else {
            self.find(.indexEntryStray, "index \(index) of no field", repair: .index(index))
            self.step = .strays(Array(indexes.dropFirst()), after: nil)
            return
        }
        var scan = EntryScan(.all, of: index, in: self.key, limit: Self.bodiesMax)
        scan.after = position
        let entries = try checked.snapshot.entries(scan).elements
        let numbers = Array(Set(entries.map(\.record))).sorted()
        let records = try checked.records(numbers, in: self.key)
        self.work += entries.count
        var isStray = false
        for entry in entries where !isStray {
            isStray = try self.isStray(entry, of: index, records[entry.record], checked)
        }
        if isStray { self.find(.indexEntryStray, "index \(index)", repair: .index(index)) }
        // One is enough to build the index anew.
        let isRead = isStray || entries.count < Self.bodiesMax
        self.step =
            isRead ? .strays(Array(indexes.dropFirst()), after: nil) : .strays(indexes, after: entries.last)
    }

    private func isStray(
        _ entry: EntryPosition,
        of index: Int64,
        _ record: NamedRecord?,
        _ checked: CheckedSnapshot
    ) throws(StorageFailure) -> Bool {
        guard let record else { return true }
        guard !record.stored.isDamaged, let type = try self.number(of: record.stored, checked) else {
            return false
        }
        let wanted = try Self.entries(of: record.stored, named: record.name, type: type, checked)
        return !wanted.contains(IndexEntry(index: index, value: entry.value))
    }

    private func number(
        of record: StoredRecord,
        _ checked: CheckedSnapshot
    ) throws(StorageFailure) -> Int64? {
        try checked.snapshot.row(RecordTypeRow.byName, self.environment, record.recordType)?.number
    }

    /// Rows that say which records, and which changes of the history, name assets.
    mutating func checkUses(after use: AssetUseRow?, _ checked: CheckedSnapshot) throws(StorageFailure) {
        var range = RowRange(AssetUseRow.byKey, self.key.database, self.key.number)
        if let use { range = range.after(use.record, use.asset) }
        let uses = try checked.snapshot.rows(range, limit: Self.bodiesMax)
        self.counted.rowBytes += Int64(uses.count * RowBytes.assetUse)
        self.work += uses.count
        let numbers = Array(Set(uses.map(\.record).filter { $0 > 0 })).sorted()
        let records = try checked.records(numbers, in: self.key)
        let assets = try checked.snapshot.rows(AssetRow.byKey, keys: uses.map(\.asset))
        for (use, asset) in zip(uses, assets) {
            let (name, body) = try self.namer(use, records, checked)
            if let body, !body.isIntact { continue }
            let named = Set((body?.namedAssets ?? []).map(\.asset))
            guard let asset, asset.state == .complete, named.contains(asset.asset) else {
                self.find(.assetUseStray, record: name, "asset \(use.asset.rawValue)")
                continue
            }
        }
        self.step = uses.count == Self.bodiesMax ? .uses(after: uses.last) : .past(after: .min)
    }

    /// The body of what a row says that it names an asset; `nil` if there is none.
    private func namer(
        _ use: AssetUseRow,
        _ records: [Int64: NamedRecord],
        _ checked: CheckedSnapshot
    ) throws(StorageFailure) -> (name: String?, body: RecordBody?) {
        guard use.record < 0 else { return (records[use.record]?.name, records[use.record]?.stored.body) }
        let position = 0 &- use.record
        let past = try checked.snapshot.row(PastRow.byKey, use.database, use.zone, position)
        return (past?.name, past.map { RecordBody(trusted: $0.body) })
    }

    mutating func checkPast(after position: Int64, _ checked: CheckedSnapshot) throws(StorageFailure) {
        let range = RowRange(PastRow.byKey, self.key.database, self.key.number).after(position)
        let changes = try checked.snapshot.rows(range, limit: Self.bodiesMax)
        for change in changes {
            self.counted.rowBytes += Int64(RowBytes.past(change))
            self.work += 1 + change.body.count / 1_024
            let isBefore = change.before.map { $0 > 0 && $0 < change.position } ?? change.body.isEmpty
            if !isBefore || !RecordBody(trusted: change.body).isIntact {
                self.find(.historyUnreadable, record: change.name, "position \(change.position)")
            }
        }
        self.step =
            changes.count == Self.bodiesMax ? .past(after: changes.last?.position ?? .max) : .shares
    }
}
