import StorageContract

/// Rows of zones as a check wants them: the tables have them in this form.
extension PostgreSQLSnapshot {
    func contents(
        _ table: Table,
        of zone: ZoneKey,
        after key: [ColumnValue],
        limit: Int
    ) throws(StorageFailure) -> [[ColumnValue]] {
        let prefix: [ColumnValue] = [.integer(zone.database.rawValue), .integer(zone.number)]
        return try self.tables.rows(
            of: table,
            in: TableRange(index: table.key, prefix: prefix, after: key),
            limit: limit
        )
    }

    func areStored(_ rows: [[ColumnValue]], in table: Table) throws(StorageFailure) -> [Bool] {
        guard !rows.isEmpty else { return [] }
        let found = try self.tables.rows(of: table, by: table.key, keys: rows.map { table.key(of: $0) })
        return zip(rows, found).map { $0 == $1 }
    }
}
