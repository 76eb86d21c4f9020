import MemoryEngine
import RecordModel
import StorageContract

@testable import RecordStore

/// Declared tables in memory: what an engine brings for them, without a database.
final class MemoryTables: IndexWriter {
    private var contents = TableRows()
    private var lastIndex: Int64 = 0
    /// Indexes that have entries of records.
    var indexesWithEntries: Set<Int64> = []

    func rows(
        of table: Table,
        by index: Table.Index,
        keys: [[ColumnValue]]
    ) throws(StorageFailure) -> [[ColumnValue]?] {
        try self.contents.rows(of: table, by: index, keys: keys)
    }

    func rows(of table: Table, in range: TableRange, limit: Int) -> [[ColumnValue]] {
        self.contents.rows(of: table, in: range, limit: limit)
    }

    func count(of table: Table, in range: TableRange, limit: Int) -> Int {
        self.contents.count(of: table, in: range, limit: limit)
    }

    @discardableResult
    func put(_ rows: [[ColumnValue]], in table: Table) throws(StorageFailure) -> [Int64] {
        try self.contents.put(rows, in: table)
    }

    func delete(keys: [[ColumnValue]], from table: Table) {
        self.contents.delete(keys: keys, from: table)
    }

    func delete(from table: Table, in range: TableRange, limit: Int) -> Int {
        self.contents.delete(from: table, in: range, limit: limit)
    }

    func types(
        named names: [String],
        in environment: EnvironmentID
    ) throws(StorageFailure) -> [StoredType?] {
        try StoredType.types(named: names, in: environment, from: self)
    }

    func hasEntries(ofIndex index: Int64, in environment: EnvironmentID) throws(StorageFailure) -> Bool {
        self.indexesWithEntries.contains(index)
    }

    func takeIndexNumbers(_ count: Int) throws(StorageFailure) -> Int64 {
        self.lastIndex += Int64(count)
        return self.lastIndex - Int64(count) + 1
    }
}

/// A double of a snapshot or a transaction whose declared tables are in memory.
protocol MemoryRows: TableReader {
    var tables: MemoryTables { get }
}

extension MemoryRows {
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
        self.tables.rows(of: table, in: range, limit: limit)
    }

    func count(of table: Table, in range: TableRange, limit: Int) throws(StorageFailure) -> Int {
        self.tables.count(of: table, in: range, limit: limit)
    }

    @discardableResult
    func put(_ rows: [[ColumnValue]], in table: Table) throws(StorageFailure) -> [Int64] {
        try self.tables.put(rows, in: table)
    }

    func delete(keys: [[ColumnValue]], from table: Table) throws(StorageFailure) {
        self.tables.delete(keys: keys, from: table)
    }

    func delete(from table: Table, in range: TableRange, limit: Int) throws(StorageFailure) -> Int {
        self.tables.delete(from: table, in: range, limit: limit)
    }

    func types(
        named names: [String],
        in environment: EnvironmentID
    ) throws(StorageFailure) -> [StoredType?] {
        try self.tables.types(named: names, in: environment)
    }

    func hasEntries(ofIndex index: Int64, in environment: EnvironmentID) throws(StorageFailure) -> Bool {
        try self.tables.hasEntries(ofIndex: index, in: environment)
    }
}
