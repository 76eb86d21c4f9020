import RecordStore

/// Rows of declared tables.
extension WriterTransaction {
    func rows(
        of table: Table,
        by index: Table.Index,
        keys: [[ColumnValue]]
    ) throws(StorageFailure) -> [[ColumnValue]?] {
        try self.statements.tables.rows(of: table, by: index, keys: keys)
    }

    func rows(
        of table: Table,
        in range: TableRange,
        limit: Int
    ) throws(StorageFailure) -> [[ColumnValue]] {
        try self.statements.tables.rows(of: table, in: range, limit: limit)
    }

    func count(of table: Table, in range: TableRange, limit: Int) throws(StorageFailure) -> Int {
        try self.statements.tables.count(of: table, in: range, limit: limit)
    }

    @discardableResult
    func put(_ rows: [[ColumnValue]], in table: Table) throws(StorageFailure) -> [Int64] {
        if table === RequestRow.table {
            self.outcomesStored += rows.count
        } else {
            self.forget(table, rows: rows.count)
        }
        return try self.statements.tables.put(rows, in: table)
    }

    func delete(keys: [[ColumnValue]], from table: Table) throws(StorageFailure) {
        self.forget(table, rows: keys.count)
        try self.statements.tables.delete(keys: keys, from: table)
    }

    func delete(from table: Table, in range: TableRange, limit: Int) throws(StorageFailure) -> Int {
        self.forget(table, rows: 1)
        return try self.statements.tables.delete(from: table, in: range, limit: limit)
    }

    func hasEntries(ofIndex index: Int64, in environment: EnvironmentID) throws(StorageFailure) -> Bool {
        try self.statements.indexSearch.hasEntries(ofIndex: index, in: environment)
    }

    /// Tables of which `StoredType` is made.
    private static let tablesOfTypes = Set(
        [RecordTypeRow.table, FieldRow.table, TypeGrantRow.table, IndexBuildRow.table].map {
            ObjectIdentifier($0)
        }
    )

    /// Drops what is in memory of a table that is about to change.
    private func forget(_ table: Table, rows: Int) {
        guard Self.tablesOfTypes.contains(ObjectIdentifier(table)) else { return }
        // Rows of schemas have several indexes, and what is known of types has to be read again.
        self.workDone += 3 * rows
        self.caches.forgetTypes()
        if table === RecordTypeRow.table { self.caches.forgetNames() }
    }
}
