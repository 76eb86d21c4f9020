import RecordModel
import StorageContract

/// Keeps the records that changes of a zone replace.
///
/// It never fails a change for lack of room. When a quota leaves none for what is replaced, the history
/// of the zone begins anew behind the change, and what it had goes.
struct PastKeeping {
    let transaction: any WriteTransaction
    let zone: ZoneKey
    let requester: Requester
    let history: HistoryRule
    let quotas: StorageQuotas

    /// Keeps what some writes replaced, which were applied in the same transaction.
    ///
    /// Assets that the replaced records name get a use before the records lose theirs, so no grace
    /// time begins.
    func keep(_ writes: RecordWrites, numbers: [Int64]) throws(StorageFailure) {
        var names = NumberedNames(transaction: self.transaction, environment: self.requester.environment)
        var rows: [PastRow] = []
        rows.reserveCapacity(writes.saves.count + writes.deletes.count)
        for (save, number) in zip(writes.saves, numbers) where Self.isKept(save.record) {
            var row = PastRow(
                in: self.zone,
                at: save.record.position,
                kind: save.existing == nil ? .created : .updated,
                name: save.name,
                record: number
            )
            row.type = try names.type(save.record.recordType)
            if let existing = save.existing { try row.replace(existing, &names) }
            rows.append(row)
        }
        // A damaged record cannot be restored.
        for delete in writes.deletes where Self.isKept(delete.record) && !delete.isDamaged {
            var row = PastRow(
                in: self.zone,
                at: delete.position,
                kind: .deleted,
                name: delete.name,
                record: delete.record.number
            )
            row.type = try names.type(delete.record.recordType)
            try row.replace(delete.record, &names)
            rows.append(row)
        }
        guard let first = rows.first, let last = rows.last else { return }
        let author = try names.author(self.requester.userRecordName ?? "")
        let installation = self.requester.installation?.bytes
        for offset in rows.indices {
            rows[offset].changedMilliseconds = self.transaction.nowMilliseconds
            rows[offset].author = author
            rows[offset].installation = installation
        }
        let bytes = rows.reduce(0) { $0 + RowBytes.past($1) }
        guard try self.hasRoom(for: bytes) else { return try self.beginAnew(behind: last.position) }
        try self.begin(before: first.position)
        try self.transaction.put(rows.map(\.values), in: PastRow.table)
        self.transaction.count(rowBytes: bytes, in: self.zone)
        for row in rows where row.before != nil { try self.holdAssets(of: row) }
    }

    /// Whether a record has a history: shares are not undone, and a user's own record is theirs.
    private static func isKept(_ record: StoredRecord) -> Bool {
        record.recordType != ShareRecord.type && record.recordType != UserRecord.type
    }

    private func hasRoom(for bytes: Int) throws(StorageFailure) -> Bool {
        guard
            let room = try self.transaction.room(in: self.zone.database, under: self.quotas)
        else { return true }
        return Int64(bytes) <= room.bytes
    }

    private func holdAssets(of row: PastRow) throws(StorageFailure) {
        let assets = Set(RecordBody(trusted: row.body).namedAssets.map(\.asset))
        guard !assets.isEmpty else { return }
        let use = RecordKey.past(at: row.position, in: self.zone)
        for number in try self.transaction.assets(Array(assets), in: self.zone.database) {
            // An asset that a record names is complete.
            guard let number else { throw .unexpected(code: 0) }
            try self.transaction.addUse(of: number, by: use)
        }
    }

    // MARK: Where the history begins

    /// Notes where the history of the zone begins, with its first change.
    private func begin(before position: Int64) throws(StorageFailure) {
        let life = self.history.life
        guard self.transaction.knowledge.pastZones[self.zone] != life else { return }
        let known = try self.transaction.row(PastZoneRow.byKey, self.zone.database, self.zone.number)
        if known?.life != life {
            try self.transaction.put(
                PastZoneRow(self.zone, since: position - 1, sinceMilliseconds: life, life: life)
            )
        }
        self.transaction.knowledge.pastZones[self.zone] = life
    }

    private func beginAnew(behind position: Int64) throws(StorageFailure) {
        let life = self.history.life
        try self.transaction.put(
            PastZoneRow(
                self.zone,
                since: position,
                sinceMilliseconds: self.transaction.nowMilliseconds,
                life: life
            )
        )
        self.transaction.knowledge.pastZones[self.zone] = life
        try self.transaction.put(PastRemovalRow(self.zone))
    }
}

extension RecordKey {
    /// The key under which a change in the history of a zone names assets.
    ///
    /// Numbers of records and positions are positive, so no record has it.
    static func past(at position: Int64, in zone: ZoneKey) -> RecordKey {
        RecordKey(zone: zone, number: 0 &- position)
    }
}

extension PastRow {
    fileprivate mutating func replace(
        _ record: StoredRecord,
        _ names: inout NumberedNames
    ) throws(StorageFailure) {
        self.before = record.position
        self.createdMilliseconds = record.system.createdMilliseconds
        self.modifiedMilliseconds = record.system.modifiedMilliseconds
        self.creator = try names.author(record.system.createdBy)
        self.modifier = try names.author(record.system.modifiedBy)
        self.parent = record.parent
        self.body = record.body.bytes
    }
}

/// Numbers of users and record types, each read once.
private struct NumberedNames {
    let transaction: any WriteTransaction
    let environment: EnvironmentID
    private var authors: [String: Int64] = [:]
    private var types: [String: Int64] = [:]

    init(transaction: any WriteTransaction, environment: EnvironmentID) {
        self.transaction = transaction
        self.environment = environment
    }

    mutating func author(_ name: String) throws(StorageFailure) -> Int64 {
        if let known = self.authors[name] { return known }
        let number = try self.transaction.authorNumber(ofUserOrNew: name)
        self.authors[name] = number
        return number
    }

    mutating func type(_ name: String) throws(StorageFailure) -> Int64 {
        if let known = self.types[name] { return known }
        // A record that is stored has a type that has a number.
        guard let row = try self.transaction.row(RecordTypeRow.byName, self.environment, name) else {
            throw .unexpected(code: 0)
        }
        self.types[name] = row.number
        return row.number
    }
}
