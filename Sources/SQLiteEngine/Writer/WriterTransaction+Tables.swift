import RecordStore

/// Rows of declared tables.
extension WriterTransaction {
    /// Tables of which the writer keeps something in memory.
    private static let remembered: Set<ObjectIdentifier> = Set(
        [
            RecordTypeRow.table, FieldRow.table, TypeGrantRow.table, RoleRow.table, UserRoleRow.table,
        ].map { ObjectIdentifier($0) }
    )

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
            self.forget(table)
        }
        return try self.statements.tables.put(rows, in: table)
    }

    func delete(keys: [[ColumnValue]], from table: Table) throws(StorageFailure) {
        self.forget(table)
        try self.statements.tables.delete(keys: keys, from: table)
    }

    func delete(from table: Table, in range: TableRange, limit: Int) throws(StorageFailure) -> Int {
        self.forget(table)
        return try self.statements.tables.delete(from: table, in: range, limit: limit)
    }

    func hasEntries(ofIndex index: Int64, in environment: EnvironmentID) throws(StorageFailure) -> Bool {
        try self.statements.indexSearch.hasEntries(ofIndex: index, in: environment)
    }

    /// Drops what is in memory of a table that is about to change.
    private func forget(_ table: Table) {
        if Self.remembered.contains(ObjectIdentifier(table)) { self.caches.forgetNames() }
    }
}
