import RecordModel
import StorageContract

// Rows that follow from those of records: changes, references, entries, uses of assets, history.
extension ZoneCheck {
    mutating func checkRecords(after number: Int64, _ checked: CheckedSnapshot) throws(StorageFailure) {
        let rows = try checked.snapshot.contents(
            ContentTables.record,
            of: self.key,
            after: number == .min ? [] : [.integer(number)],
            limit: Self.bodiesMax
        )
        let records = rows.compactMap { CheckedRecord($0) }
        guard records.count == rows.count else { throw .unexpected(code: 0) }
        try checked.readAuthors(Set(records.flatMap { [$0.creator, $0.modifier] }))
        var stored: [(row: CheckedRecord, record: StoredRecord)] = []
        for row in records {
            self.counted.records += 1
            self.counted.recordBytes += Int64(row.body.bytes.count)
            self.counted.rowBytes += Int64(RowBytes.record(named: row.name))
            self.work += 1 + row.body.bytes.count / 1_024
            if let record = try row.stored(checked) {
                stored.append((row, record))
            } else {
                self.find(.recordUnreadable, record: row.name)
            }
        }
        try self.checkChanges(of: records, checked)
        try self.checkRows(of: stored, checked)
        try self.checkEntries(of: stored, checked)
        try self.checkAssets(of: stored, checked)
        try self.checkHistory(of: stored, checked)
        try self.checkMemberships(of: stored, checked)
        guard let last = records.last, rows.count == Self.bodiesMax else {
            self.step = .references(after: [])
            return
        }
        self.step = .records(after: last.number)
    }

    private var keyColumns: [ColumnValue] {
        [.integer(self.key.database.rawValue), .integer(self.key.number)]
    }

    /// Each record is in the order of changes, at its position.
    private mutating func checkChanges(
        of records: [CheckedRecord],
        _ checked: CheckedSnapshot
    ) throws(StorageFailure) {
        let rows = records.map { self.keyColumns + [.integer($0.position), .integer($0.number)] }
        for (record, isThere) in zip(records, try checked.snapshot.areStored(rows, in: ContentTables.change))
        {
            if isThere {
                self.lastPosition = max(self.lastPosition, record.position)
            } else {
                self.find(.changeMissing, record: record.name, "position \(record.position)")
            }
        }
    }

    /// Each reference has its row.
    private mutating func checkRows(
        of records: [(row: CheckedRecord, record: StoredRecord)],
        _ checked: CheckedSnapshot
    ) throws(StorageFailure) {
        var rows: [[ColumnValue]] = []
        var names: [(referrer: String, target: String)] = []
        for (row, record) in records {
            for (target, kinds) in References(body: record.body, parent: record.parent).kinds {
                rows.append(
                    self.keyColumns
                        + [.text(target.text), .text(row.name), .integer(Int64(kinds.rawValue))]
                )
                names.append((row.name, target.text))
            }
        }
        let areThere = try checked.snapshot.areStored(rows, in: ContentTables.reference)
        for (name, isThere) in zip(names, areThere) where !isThere {
            self.find(.referenceMissing, record: name.referrer, "to \(name.target)")
        }
    }

    /// Each value has its entry in each index that is complete.
    private mutating func checkEntries(
        of records: [(row: CheckedRecord, record: StoredRecord)],
        _ checked: CheckedSnapshot
    ) throws(StorageFailure) {
        var rows: [[ColumnValue]] = []
        var wanted: [(name: String, index: Int64)] = []
        for (row, record) in records {
            for entry in try Self.entries(of: record, named: row.name, type: row.type, checked) {
                self.expectedEntries[entry.index, default: 0] += 1
                rows.append(
                    self.keyColumns + [.integer(entry.index), .bytes(entry.value), .integer(row.number)]
                )
                wanted.append((row.name, entry.index))
            }
        }
        self.work += rows.count
        let areThere = try checked.snapshot.areStored(rows, in: ContentTables.entry)
        for (entry, isThere) in zip(wanted, areThere) where !isThere {
            self.find(
                .indexEntryMissing,
                record: entry.name,
                "index \(entry.index)",
                repair: .index(entry.index)
            )
        }
    }

    /// The entries of a record in the indexes that are complete.
    static func entries(
        of record: StoredRecord,
        named name: String,
        type: Int64,
        _ checked: CheckedSnapshot
    ) throws(StorageFailure) -> Set<IndexEntry> {
        guard let type = try checked.type(type) else { return [] }
        return Set(IndexChanges(from: nil, to: record, named: name, definitions: type.fields).added)
    }

    /// Each named asset is there, and has a row that says so.
    private mutating func checkAssets(
        of records: [(row: CheckedRecord, record: StoredRecord)],
        _ checked: CheckedSnapshot
    ) throws(StorageFailure) {
        for (row, record) in records {
            let named = Array(Set(record.body.namedAssets.map(\.asset)))
            guard !named.isEmpty else { continue }
            let numbers = try checked.snapshot.assets(named, in: self.key.database)
            let keys = numbers.compactMap { $0 }.map {
                AssetUseRow.byKey.key(self.key.database, self.key.number, row.number, $0)
            }
            for (asset, number) in zip(named, numbers) where number == nil {
                self.find(.assetMissing, record: row.name, "\(asset.size) bytes")
            }
            let uses = try checked.snapshot.rows(AssetUseRow.byKey, keys: keys)
            for (number, use) in zip(numbers.compactMap { $0 }, uses) where use == nil {
                self.find(.assetUseMissing, record: row.name, "asset \(number.rawValue)")
            }
        }
    }

    /// The last change of each record is in the history, as far back as that goes.
    private mutating func checkHistory(
        of records: [(row: CheckedRecord, record: StoredRecord)],
        _ checked: CheckedSnapshot
    ) throws(StorageFailure) {
        guard let history = try checked.history(of: self.environment),
            let begin = try checked.snapshot.row(PastZoneRow.byKey, self.key.database, self.key.number),
            begin.life == history.life
        else { return }
        // Housekeeping removes what is too old, and then moves the beginning.
        let kept = records.filter { row, record in
            row.position > begin.since && record.recordType != ShareRecord.type
                && record.recordType != UserRecord.type
        }
        let keys = kept.map { PastRow.byKey.key(self.key.database, self.key.number, $0.row.position) }
        let past = try checked.snapshot.rows(PastRow.byKey, keys: keys)
        for (record, change) in zip(kept, past) where change?.record != record.row.number {
            self.find(.historyGap, record: record.row.name, "position \(record.row.position)")
        }
    }
}
