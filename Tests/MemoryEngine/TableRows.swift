package import StorageContract

/// The rows of all declared tables.
package struct TableRows: Sendable {
    /// One table, with a map for each of its indexes, from the values of its order to the row.
    private struct Rows: Sendable {
        var orders: [SortedMap<Values<ColumnValue>, [ColumnValue]>]
        var lastNumber: Int64 = 0
    }

    private var tables: [ObjectIdentifier: Rows] = [:]

    package init() {}

    // MARK: Reading

    package func rows(
        of table: Table,
        by index: Table.Index,
        keys: [[ColumnValue]]
    ) throws(StorageFailure) -> [[ColumnValue]?] {
        guard index.isUnique else { throw .unexpected(code: 1) }
        return keys.map { self.rows(of: table, in: TableRange(index: index, prefix: $0), limit: 1).first }
    }

    package func rows(of table: Table, in range: TableRange, limit: Int) -> [[ColumnValue]] {
        guard let rows = self.tables[ObjectIdentifier(table)] else { return [] }
        let order = rows.orders[range.index.offset]
        let bounds = Self.bounds(of: range, in: order)
        let found = order.entries[bounds]
        return range.isDescending
            ? found.suffix(limit).reversed().map(\.value) : found.prefix(limit).map(\.value)
    }

    package func count(of table: Table, in range: TableRange, limit: Int) -> Int {
        guard let rows = self.tables[ObjectIdentifier(table)] else { return 0 }
        return min(limit, Self.bounds(of: range, in: rows.orders[range.index.offset]).count)
    }

    private static func bounds(
        of range: TableRange,
        in order: SortedMap<Values<ColumnValue>, [ColumnValue]>
    ) -> Range<Int> {
        func offset(of values: [ColumnValue], behind: Bool) -> Int {
            order.offset { key in
                let first = key.list.prefix(values.count)
                if behind { return values.lexicographicallyPrecedes(first) }
                return !first.lexicographicallyPrecedes(values)
            }
        }
        var low = range.prefix.isEmpty ? 0 : offset(of: range.prefix, behind: false)
        var high = range.prefix.isEmpty ? order.entries.count : offset(of: range.prefix, behind: true)
        if !range.after.isEmpty {
            let edge = offset(of: range.prefix + range.after, behind: !range.isDescending)
            if range.isDescending { high = edge } else { low = edge }
        }
        return low..<max(low, high)
    }

    // MARK: Writing

    package mutating func put(
        _ rows: [[ColumnValue]],
        in table: Table
    ) throws(StorageFailure) -> [Int64] {
        var numbers: [Int64] = []
        for row in rows {
            var row = row
            if table.numbering != .none {
                let last = self.tables[ObjectIdentifier(table)]?.lastNumber ?? 0
                if row[0] == .null {
                    row[0] = .integer(last + 1)
                    numbers.append(last + 1)
                }
                if case .integer(let number) = row[0] { self.noteNumber(max(number, last), of: table) }
            }
            let key = table.key(of: row)
            for index in table.indexes.dropFirst() where index.isUnique && Self.has(row, in: index) {
                let values = index.columns.map { row[$0] }
                guard !values.contains(.null) else { continue }
                let others = self.rows(of: table, in: TableRange(index: index, prefix: values), limit: 1)
                guard others.allSatisfy({ table.key(of: $0) == key }) else { throw .unexpected(code: 2) }
            }
            self.delete(keys: [key], from: table)
            self.set(row, row, in: table)
        }
        return numbers
    }

    package mutating func delete(keys: [[ColumnValue]], from table: Table) {
        for key in keys {
            let range = TableRange(index: table.key, prefix: key)
            if let row = self.rows(of: table, in: range, limit: 1).first { self.set(row, nil, in: table) }
        }
    }

    package mutating func delete(from table: Table, in range: TableRange, limit: Int) -> Int {
        let going = self.rows(of: table, in: range, limit: limit)
        for row in going { self.set(row, nil, in: table) }
        return going.count
    }

    /// Puts a row into the indexes that have it, or takes it out.
    private mutating func set(_ row: [ColumnValue], _ value: [ColumnValue]?, in table: Table) {
        for index in table.indexes where Self.has(row, in: index) {
            let key = Values(index.order.map { row[$0] })
            let name = ObjectIdentifier(table)
            self.tables[name, default: Self.none(of: table)].orders[index.offset][key] = value
        }
    }

    private mutating func noteNumber(_ number: Int64, of table: Table) {
        self.tables[ObjectIdentifier(table), default: Self.none(of: table)].lastNumber = number
    }

    private static func none(of table: Table) -> Rows {
        Rows(orders: Array(repeating: SortedMap(), count: table.indexes.count))
    }

    private static func has(_ row: [ColumnValue], in index: Table.Index) -> Bool {
        index.condition?.isMet(by: row) ?? true
    }
}

/// Columns of a row by name, for the rows that an engine writes itself.
extension Table {
    func offset(of column: String) -> Int { self.columns.firstIndex { $0.name == column }! }

    func integer(_ column: String, of row: [ColumnValue]) -> Int64 {
        if case .integer(let number) = row[self.offset(of: column)] { number } else { 0 }
    }

    func text(_ column: String, of row: [ColumnValue]) -> String {
        if case .text(let text) = row[self.offset(of: column)] { text } else { "" }
    }

    /// A row with these values; the others are 0, or null where they may be.
    func row(_ values: [String: ColumnValue]) -> [ColumnValue] {
        self.columns.map { values[$0.name] ?? ($0.isOptional ? .null : .integer(0)) }
    }
}
