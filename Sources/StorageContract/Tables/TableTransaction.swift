/// Reads of declared tables by a rule: the state of one moment, and in a transaction what the
/// transaction itself has written.
///
/// Rules call the functions that take and return structs (below); an engine brings these three.
package protocol TableReader: AnyObject {
    /// Rows by the values of a unique index, or of the key: one a key, in their order; `nil` where
    /// there is no such row.
    ///
    /// Keys have a value for each column of the index, and none is null.
    func rows(
        of table: Table,
        by index: Table.Index,
        keys: [[ColumnValue]]
    ) throws(StorageFailure) -> [[ColumnValue]?]

    /// The first rows of a range, in its direction, at most `limit`.
    func rows(
        of table: Table,
        in range: TableRange,
        limit: Int
    ) throws(StorageFailure) -> [[ColumnValue]]

    /// The number of rows in a range, counted up to `limit`.
    func count(of table: Table, in range: TableRange, limit: Int) throws(StorageFailure) -> Int
}

/// Writes of declared tables in a transaction.
///
/// Every write is seen by the reads after it. An engine that caches rows, such as fields of record
/// types, must update its cache on these writes.
package protocol TableWriter: TableReader {
    /// Writes rows, each in place of the one that has its key.
    ///
    /// A table with numbers (`Table.numbering`) takes rows with a null number and gives them numbers.
    ///
    /// - Returns: The numbers that were given, in the order of the rows.
    /// - Throws: `unexpected` if another row has the same values in a unique index: rules look first.
    @discardableResult
    func put(_ rows: [[ColumnValue]], in table: Table) throws(StorageFailure) -> [Int64]

    /// Deletes rows by key; those that are not there are no failure.
    func delete(keys: [[ColumnValue]], from table: Table) throws(StorageFailure)

    /// Deletes the first rows of a range, at most `limit`, and returns how many.
    func delete(from table: Table, in range: TableRange, limit: Int) throws(StorageFailure) -> Int
}

/// A range of the rows of one table.
@usableFromInline
package struct RowRange<Row: TableRow>: Sendable {
    @usableFromInline package internal(set) var range: TableRange

    /// The rows that have these values in the first columns of an index's order.
    @inlinable
    package init<each Value: ColumnConvertible>(_ index: RowIndex<Row>, _ prefix: repeat each Value) {
        self.range = TableRange(index: index.index, prefix: ColumnValue.list(repeat each prefix))
    }

    /// The rows of the range behind these values of the columns that follow.
    @inlinable
    package func after<each Value: ColumnConvertible>(_ values: repeat each Value) -> RowRange {
        var copy = self
        copy.range = TableRange(
            index: self.range.index,
            prefix: self.range.prefix,
            after: ColumnValue.list(repeat each values),
            isDescending: self.range.isDescending
        )
        return copy
    }

    /// The same rows, the last one first.
    package var descending: RowRange {
        var copy = self
        copy.range.isDescending.toggle()
        return copy
    }
}

extension RowIndex {
    /// The values of a row in the columns of the index.
    @usableFromInline
    package struct Key: Hashable, Sendable {
        @usableFromInline package let values: [ColumnValue]

        @inlinable
        init(values: [ColumnValue]) { self.values = values }
    }

    /// A key, with a value for each column.
    @inlinable
    package func key<each Value: ColumnConvertible>(_ values: repeat each Value) -> Key {
        Key(values: ColumnValue.list(repeat each values))
    }
}

extension ColumnValue {
    @inlinable
    static func list<each Value: ColumnConvertible>(_ values: repeat each Value) -> [ColumnValue] {
        var list: [ColumnValue] = []
        // As many as any key has.
        list.reserveCapacity(4)
        for value in repeat each values { list.append(value.columnValue) }
        return list
    }
}

extension TableReader {
    /// The row with these values in a unique index; `nil` if there is none.
    package func row<Row: TableRow, each Value: ColumnConvertible>(
        _ index: RowIndex<Row>,
        _ key: repeat each Value
    ) throws(StorageFailure) -> Row? {
        let keys = [ColumnValue.list(repeat each key)]
        guard let values = try self.rows(of: Row.table, by: index.index, keys: keys)[0] else { return nil }
        return try Row(values: values)
    }

    /// The rows with these keys of one column, in their order; `nil` where there is none.
    package func rows<Row: TableRow>(
        _ index: RowIndex<Row>,
        keys: [some ColumnConvertible]
    ) throws(StorageFailure) -> [Row?] {
        try self.rows(index, keys: keys.map { index.key($0) })
    }

    /// The rows with these keys, in their order; `nil` where there is none.
    package func rows<Row: TableRow>(
        _ index: RowIndex<Row>,
        keys: [RowIndex<Row>.Key]
    ) throws(StorageFailure) -> [Row?] {
        var rows: [Row?] = []
        rows.reserveCapacity(keys.count)
        // A closure: a key path of a generic type is made anew each time.
        for values in try self.rows(of: Row.table, by: index.index, keys: keys.map { $0.values }) {
            rows.append(try values.map { (values) throws(StorageFailure) in try Row(values: values) })
        }
        return rows
    }

    /// The first rows of a range, at most `limit`.
    package func rows<Row: TableRow>(
        _ range: RowRange<Row>,
        limit: Int = .max
    ) throws(StorageFailure) -> [Row] {
        var rows: [Row] = []
        for values in try self.rows(of: Row.table, in: range.range, limit: limit) {
            rows.append(try Row(values: values))
        }
        return rows
    }

    /// Calls a function with each row of a range of a unique index, and has a few in memory at a
    /// time.
    package func visit<Row: TableRow>(
        _ range: RowRange<Row>,
        _ body: (Row) throws(StorageFailure) -> Void
    ) throws(StorageFailure) {
        var rest = range.range
        precondition(rest.index.isUnique && rest.after.isEmpty)
        let following = rest.index.columns[rest.prefix.count...]
        while true {
            let page = try self.rows(of: Row.table, in: rest, limit: TableRange.visitedMax)
            for values in page { try body(try Row(values: values)) }
            guard page.count == TableRange.visitedMax, let last = page.last, !following.isEmpty else {
                return
            }
            rest.after = following.map { last[$0] }
        }
    }

    /// The number of rows in a range, counted up to `limit`.
    package func count<Row: TableRow>(
        _ range: RowRange<Row>,
        limit: Int = .max
    ) throws(StorageFailure) -> Int {
        try self.count(of: Row.table, in: range.range, limit: limit)
    }
}

extension TableWriter {
    /// Writes a row; it replaces the one with its key.
    package func put<Row: TableRow>(_ row: Row) throws(StorageFailure) {
        try self.put([row.values], in: Row.table)
    }

    /// Writes a row with a number that no row has, and returns the number.
    package func insert<Row: TableRow>(_ row: Row) throws(StorageFailure) -> Int64 {
        try self.insert(contentsOf: [row])[0]
    }

    /// Writes rows with numbers that no rows have, and returns the numbers.
    package func insert<Row: TableRow>(contentsOf rows: [Row]) throws(StorageFailure) -> [Int64] {
        let numberless = rows.map { row in
            var values = row.values
            values[0] = .null
            return values
        }
        return try self.put(numberless, in: Row.table)
    }

    /// Deletes rows, whether they exist or not.
    package func delete<Row: TableRow>(_ rows: Row...) throws(StorageFailure) {
        try self.delete(keys: rows.map { Row.table.key(of: $0.values) }, from: Row.table)
    }

    /// Deletes the first rows of a range, at most `limit`, and returns how many.
    @discardableResult
    package func delete<Row: TableRow>(
        _ range: RowRange<Row>,
        limit: Int = .max
    ) throws(StorageFailure) -> Int {
        try self.delete(from: Row.table, in: range.range, limit: limit)
    }
}
