import StorageContract

/// A connection that reads rows of declared tables through its statements.
protocol RowReader: IndexReader {
    var tables: TableStatements { get }
    var indexes: IndexSearch { get }
}

extension RowReader {
    func rows(
        of table: Table,
        by index: Table.Index,
        keys: [[ColumnValue]]
    ) throws(StorageFailure) -> [[ColumnValue]?] {
        try self.tables.rows(of: table, by: index, keys: keys)
    }

    func rows(
        of table: Table,
        in range: TableRange,
        limit: Int
    ) throws(StorageFailure) -> [[ColumnValue]] {
        try self.tables.rows(of: table, in: range, limit: limit)
    }

    func count(of table: Table, in range: TableRange, limit: Int) throws(StorageFailure) -> Int {
        try self.tables.count(of: table, in: range, limit: limit)
    }

    func hasEntries(ofIndex index: Int64, in environment: EnvironmentID) throws(StorageFailure) -> Bool {
        try self.indexes.hasEntries(ofIndex: index, in: environment)
    }
}
