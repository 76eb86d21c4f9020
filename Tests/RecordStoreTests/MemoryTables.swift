import RecordModel

@testable import RecordStore

/// Declared tables in memory: what an engine brings for them, without a database.
final class MemoryTables: IndexWriter {
    private struct Contents {
        /// By the key of the table.
        var rows: [[ColumnValue]: [ColumnValue]] = [:]
        var lastNumber: Int64 = 0
    }

    private var tables: [ObjectIdentifier: Contents] = [:]
    private var lastIndex: Int64 = 0
    /// Indexes that have entries of records.
    var indexesWithEntries: Set<Int64> = []

    func rows(
        of table: Table,
        by index: Table.Index,
        keys: [[ColumnValue]]
    ) throws(StorageFailure) -> [[ColumnValue]?] {
        guard index.isUnique else { throw .unexpected(code: 1) }
        return keys.map { self.range(TableRange(index: index, prefix: $0), of: table).first }
    }

    func rows(
        of table: Table,
        in range: TableRange,
        limit: Int
    ) throws(StorageFailure) -> [[ColumnValue]] {
        Array(self.range(range, of: table).prefix(limit))
    }

    func count(of table: Table, in range: TableRange, limit: Int) throws(StorageFailure) -> Int {
        min(limit, self.range(range, of: table).count)
    }

    @discardableResult
    func put(_ rows: [[ColumnValue]], in table: Table) throws(StorageFailure) -> [Int64] {
        var numbers: [Int64] = []
        for row in rows {
            var row = row
            var contents = self.tables[ObjectIdentifier(table)] ?? Contents()
            if table.numbering != .none, row[0] == .null {
                contents.lastNumber += 1
                numbers.append(contents.lastNumber)
                row[0] = .integer(contents.lastNumber)
            }
            let key = table.key(of: row)
            for index in table.indexes where index.isUnique {
                let values = index.columns.map { row[$0] }
                guard index.condition?.isMet(by: row) ?? true, !values.contains(.null) else { continue }
                let others = self.range(TableRange(index: index, prefix: values), of: table)
                guard others.allSatisfy({ table.key(of: $0) == key }) else { throw .unexpected(code: 2) }
            }
            contents.rows[key] = row
            self.tables[ObjectIdentifier(table)] = contents
        }
        return numbers
    }

    func delete(keys: [[ColumnValue]], from table: Table) throws(StorageFailure) {
        for key in keys { self.tables[ObjectIdentifier(table)]?.rows[key] = nil }
    }

    func delete(from table: Table, in range: TableRange, limit: Int) throws(StorageFailure) -> Int {
        let going = self.range(range, of: table).prefix(limit)
        try self.delete(keys: going.map { table.key(of: $0) }, from: table)
        return going.count
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

    private func range(_ range: TableRange, of table: Table) -> [[ColumnValue]] {
        let columns = range.index.order
        let prefix = columns.prefix(range.prefix.count)
        let following = columns[range.prefix.count..<range.prefix.count + range.after.count]
        func precedes(_ left: [ColumnValue], _ right: [ColumnValue]) -> Bool {
            range.isDescending
                ? right.lexicographicallyPrecedes(left) : left.lexicographicallyPrecedes(right)
        }
        let found = (self.tables[ObjectIdentifier(table)]?.rows.values).map(Array.init) ?? []
        return found.filter { row in
            (range.index.condition?.isMet(by: row) ?? true) && prefix.map { row[$0] } == range.prefix
                && (range.after.isEmpty || precedes(range.after, following.map { row[$0] }))
        }.sorted { left, right in precedes(columns.map { left[$0] }, columns.map { right[$0] }) }
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
        try self.tables.rows(of: table, in: range, limit: limit)
    }

    func count(of table: Table, in range: TableRange, limit: Int) throws(StorageFailure) -> Int {
        try self.tables.count(of: table, in: range, limit: limit)
    }

    @discardableResult
    func put(_ rows: [[ColumnValue]], in table: Table) throws(StorageFailure) -> [Int64] {
        try self.tables.put(rows, in: table)
    }

    func delete(keys: [[ColumnValue]], from table: Table) throws(StorageFailure) {
        try self.tables.delete(keys: keys, from: table)
    }

    func delete(from table: Table, in range: TableRange, limit: Int) throws(StorageFailure) -> Int {
        try self.tables.delete(from: table, in: range, limit: limit)
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
