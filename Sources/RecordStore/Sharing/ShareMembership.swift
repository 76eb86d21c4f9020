import StorageContract

extension TableReader {
    /// Reads the share memberships of records: one element a key, in order.
    ///
    /// The share of a membership may be gone, and then it means nothing. Compare it with the shares
    /// that are there, as `SharedAccess` does.
    func memberships(of records: [RecordKey]) throws(StorageFailure) -> [MembershipRow?] {
        try self.rows(MembershipRow.byKey, keys: records.map(\.number))
    }

    /// Reads the share membership of one record.
    func membership(of record: RecordKey) throws(StorageFailure) -> MembershipRow? {
        try self.row(MembershipRow.byKey, record.number)
    }

    /// Reads which records came under a share or left it behind a position, ascending; at most
    /// `limit`.
    func membershipChanges(
        after position: Int64,
        in zone: ZoneKey,
        limit: Int
    ) throws(StorageFailure) -> [MembershipChange] {
        let range = RowRange(MembershipChangeRow.byKey, zone.database, zone.number).after(position)
        let rows = try self.rows(range, limit: limit)
        let numbers = Array(Set(rows.map(\.type)))
        var names: [Int64: String] = [:]
        for type in try self.rows(RecordTypeRow.byKey, keys: numbers) {
            if let type { names[type.number] = type.name }
        }
        var changes: [MembershipChange] = []
        changes.reserveCapacity(rows.count)
        for row in rows {
            guard let recordType = names[row.type] else { throw .unexpected(code: 0) }
            changes.append(
                MembershipChange(
                    position: row.position,
                    share: row.share,
                    isArrival: row.isArrival,
                    record: row.record,
                    name: row.name,
                    recordType: recordType
                )
            )
        }
        return changes
    }
}

extension WriteTransaction {
    /// Writes which records came under a share or left it, in the order of their positions: feeds
    /// of readers tell it.
    func note(
        _ changes: [MembershipChange],
        in zone: ZoneKey,
        environment: EnvironmentID
    ) throws(StorageFailure) {
        guard let last = changes.last else { return }
        let types = Set(changes.map(\.recordType)).map { RecordTypeRow.byName.key(environment, $0) }
        var numbers: [String: Int64] = [:]
        for type in try self.rows(RecordTypeRow.byName, keys: types) {
            if let type { numbers[type.name] = type.number }
        }
        var rows: [[ColumnValue]] = []
        rows.reserveCapacity(changes.count)
        var bytes = 0
        for change in changes {
            // A record that is stored has a type that has a number.
            guard let type = numbers[change.recordType] else { throw .unexpected(code: 0) }
            rows.append(MembershipChangeRow(change, in: zone, type: type).values)
            bytes += RowBytes.coverChange(named: change.name)
        }
        try self.put(rows, in: MembershipChangeRow.table)
        self.count(rowBytes: bytes, in: zone)
        self.advance(zone, to: last.position)
    }
}
