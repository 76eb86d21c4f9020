import StorageContract

/// Rows of zones as a check wants them: in the form of a move.
extension ReadConnection {
    func contents(
        _ table: Table,
        of zone: ZoneKey,
        after key: [ColumnValue],
        limit: Int
    ) throws(StorageFailure) -> [[ColumnValue]] {
        let prefix: [ColumnValue] = [.integer(zone.database.rawValue), .integer(zone.number)]
        guard table === ContentTables.entry else {
            let (own, index) = FileTable.table(for: table)
            return try self.tables.rows(
                of: own,
                in: TableRange(index: index, prefix: prefix, after: key),
                limit: limit
            )
        }
        let range = EntryKey.range(of: zone)
        let after: [ColumnValue] =
            try key.isEmpty ? [.bytes(range.from)] : FileTable.key(ofEntry: prefix + key)
        let rows = try self.tables.rows(
            of: FileTable.entry,
            in: TableRange(index: FileTable.entry.key, after: after),
            limit: limit
        )
        var entries: [[ColumnValue]] = []
        for row in rows {
            let entry = try FileTable.entry(row)
            // The next zone begins.
            guard entry.prefix(2).elementsEqual(prefix) else { break }
            entries.append(entry)
        }
        return entries
    }

    func areStored(_ rows: [[ColumnValue]], in table: Table) throws(StorageFailure) -> [Bool] {
        var stored: [Bool] = []
        stored.reserveCapacity(rows.count)
        for row in rows { stored.append(try self.isStored(row, in: table)) }
        return stored
    }

    private func isStored(_ row: [ColumnValue], in table: Table) throws(StorageFailure) -> Bool {
        if table === ContentTables.entry {
            let key = try FileTable.key(ofEntry: row)
            return try self.tables.rows(of: FileTable.entry, by: FileTable.entry.key, keys: [key])[0] != nil
        }
        guard table === ContentTables.change else {
            return try self.tables.rows(of: table, by: table.key, keys: [table.key(of: row)])[0] == row
        }
        guard case .integer(let database) = row[0], case .integer(let zone) = row[1],
            case .integer(let position) = row[2], case .integer(let record) = row[3]
        else { throw .unexpected(code: 0) }
        let key = ZoneKey(database: DatabaseID(rawValue: database), number: zone)
        let change = try self.changes(after: position &- 1, in: key, limit: 1).elements.first
        return change == FeedChange(position: position, record: record)
    }
}
