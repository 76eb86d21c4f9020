import GRDBSQLite
import StorageContract

/// Rows of declared tables, on any connection.
///
/// Each shape of a statement becomes SQL once and stays compiled: a call finds its statement, binds
/// the values, and steps.
final class TableStatements: TableWriter {
    /// The operation of a statement; compared values and limits are parameters.
    private enum Operation: Hashable {
        case find(index: Int)
        case range(Shape)
        case count(Shape)
        case put
        case insert
        /// Sets the columns that have their bits set, counted from the first.
        case update(UInt64)
        case delete
        case deleteRange(Shape)
    }

    private struct Shape: Hashable {
        let index: Int
        let prefix: Int
        let after: Int
        let isDescending: Bool

        init(_ range: TableRange) {
            self.index = range.index.offset
            self.prefix = range.prefix.count
            self.after = range.after.count
            self.isDescending = range.isDescending
        }
    }

    /// The statements of one table.
    ///
    /// Those that every request needs are found without hashing.
    private struct TableSet {
        /// By offset of the index.
        var find: [HotStatement?]
        var put: HotStatement?
        var others: [Operation: HotStatement] = [:]

        subscript(_ operation: Operation) -> HotStatement? {
            get {
                switch operation {
                case .find(let index): self.find[index]
                case .put: self.put
                case .range, .count, .insert, .update, .delete, .deleteRange: self.others[operation]
                }
            }
            set {
                switch operation {
                case .find(let index): self.find[index] = newValue
                case .put: self.put = newValue
                case .range, .count, .insert, .update, .delete, .deleteRange:
                    self.others[operation] = newValue
                }
            }
        }
    }

    private let connection: OpaquePointer
    private var sets: [ObjectIdentifier: TableSet] = [:]

    init(connection: OpaquePointer) { self.connection = connection }

    func rows(
        of table: Table,
        by index: Table.Index,
        keys: [[ColumnValue]]
    ) throws(StorageFailure) -> [[ColumnValue]?] {
        let statement = try self.statement(.find(index: index.offset), table)
        var rows: [[ColumnValue]?] = []
        rows.reserveCapacity(keys.count)
        for key in keys {
            statement.bind(key, from: 1)
            let isFound = try statement.step()
            rows.append(isFound ? statement.row(of: table) : nil)
            if isFound { statement.reset() }
        }
        return rows
    }

    func rows(
        of table: Table,
        in range: TableRange,
        limit: Int
    ) throws(StorageFailure) -> [[ColumnValue]] {
        let statement = try self.statement(.range(Shape(range)), table)
        statement.bind(range, limit: limit)
        var rows: [[ColumnValue]] = []
        while try statement.step() { rows.append(statement.row(of: table)) }
        return rows
    }

    func count(of table: Table, in range: TableRange, limit: Int) throws(StorageFailure) -> Int {
        let statement = try self.statement(.count(Shape(range)), table)
        statement.bind(range, limit: limit)
        guard try statement.step() else { return 0 }
        defer { statement.reset() }
        return Int(statement.integer(0))
    }

    @discardableResult
    func put(_ rows: [[ColumnValue]], in table: Table) throws(StorageFailure) -> [Int64] {
        var numbers: [Int64] = []
        for row in rows {
            guard table.numbering != .none else {
                try self.run(.put, row, in: table)
                continue
            }
            if row[0] == .null {
                numbers.append(try self.run(.insert, row, in: table).lastInsertedNumber)
            } else if try !self.update(row, in: table) {
                try self.run(.put, row, in: table)
            }
        }
        return numbers
    }

    /// Updates the columns that differ from those of the row with the same key.
    ///
    /// SQLite rewrites the entries of an index if one of its columns is set, even to the same
    /// value.
    ///
    /// - Returns: `false` if no row has the key.
    private func update(_ row: [ColumnValue], in table: Table) throws(StorageFailure) -> Bool {
        let key = table.key.columns.map { row[$0] }
        guard let known = try self.rows(of: table, by: table.key, keys: [key])[0] else { return false }
        let changed = row.indices.filter { row[$0] != known[$0] }
        guard !changed.isEmpty else { return true }
        let columns = changed.reduce(0 as UInt64) { $0 | 1 << UInt64($1) }
        try self.run(.update(columns), changed.map { row[$0] } + key, in: table)
        return true
    }

    @discardableResult
    private func run(
        _ operation: Operation,
        _ parameters: [ColumnValue],
        in table: Table
    ) throws(StorageFailure) -> HotStatement {
        let statement = try self.statement(operation, table)
        statement.bind(parameters, from: 1)
        try statement.run()
        return statement
    }

    func delete(keys: [[ColumnValue]], from table: Table) throws(StorageFailure) {
        let statement = try self.statement(.delete, table)
        for key in keys {
            statement.bind(key, from: 1)
            try statement.run()
        }
    }

    func delete(from table: Table, in range: TableRange, limit: Int) throws(StorageFailure) -> Int {
        let statement = try self.statement(.deleteRange(Shape(range)), table)
        statement.bind(range, limit: limit)
        try statement.run()
        return statement.changesCount
    }

    // MARK: SQL

    private func statement(
        _ operation: Operation,
        _ table: Table
    ) throws(StorageFailure) -> HotStatement {
        let key = ObjectIdentifier(table)
        if let known = self.sets[key]?[operation] { return known }
        let statement = try HotStatement(Self.sql(operation, table), on: self.connection)
        let none = TableSet(find: Array(repeating: nil, count: table.indexes.count))
        self.sets[key, default: none][operation] = statement
        return statement
    }

    private static func sql(_ operation: Operation, _ table: Table) -> String {
        let columns = table.columns.map(\.name)
        let key = Self.names(table.key.columns, table)
        let all = columns.joined(separator: ", ")
        switch operation {
        case .find(let offset):
            let index = table.indexes[offset]
            return
                "SELECT \(all) FROM \(table.name) WHERE \(Self.condition(index, index.columns.count, table))"
        case .range(let shape):
            return "SELECT \(all) \(Self.source(shape, table))"
        case .count(let shape):
            return "SELECT count(*) FROM (SELECT 1 \(Self.source(shape, table)))"
        case .insert:
            let values = columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
            return "INSERT INTO \(table.name) (\(all)) VALUES (\(values))"
        case .put:
            let values = columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
            let changed = columns.indices.filter { !table.key.columns.contains($0) }.map {
                "\(columns[$0]) = excluded.\(columns[$0])"
            }
            let update =
                changed.isEmpty ? "NOTHING" : "UPDATE SET \(changed.joined(separator: ", "))"
            return """
                INSERT INTO \(table.name) (\(all)) VALUES (\(values)) ON CONFLICT (\(key)) DO \(update)
                """
        case .update(let bits):
            let changed = columns.indices.filter { bits & 1 << UInt64($0) != 0 }
            let values = changed.enumerated().map { "\(columns[$1]) = ?\($0 + 1)" }
            let key = table.key.columns.enumerated().map {
                "\(columns[$1]) = ?\(changed.count + $0 + 1)"
            }
            return """
                UPDATE \(table.name) SET \(values.joined(separator: ", ")) \
                WHERE \(key.joined(separator: " AND "))
                """
        case .delete:
            let condition = Self.condition(table.key, table.key.columns.count, table)
            return "DELETE FROM \(table.name) WHERE \(condition)"
        case .deleteRange(let shape):
            return """
                DELETE FROM \(table.name) WHERE (\(key)) IN (SELECT \(key) \(Self.source(shape, table)))
                """
        }
    }

    /// The rows of a range in order, up to a limit, which is the last parameter.
    private static func source(_ shape: Shape, _ table: Table) -> String {
        let index = table.indexes[shape.index]
        var conditions = Self.condition(index, shape.prefix, table)
        if shape.after > 0 {
            let columns = index.order[shape.prefix..<shape.prefix + shape.after]
            let values = columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
            let comparison = shape.isDescending ? "<" : ">"
            conditions += " AND (\(Self.names(Array(columns), table))) \(comparison) (\(values))"
        }
        let direction = shape.isDescending ? " DESC" : ""
        let order = index.order[shape.prefix...].map { table.columns[$0].name + direction }
            .joined(separator: ", ")
        let sort = order.isEmpty ? "" : " ORDER BY \(order)"
        return "FROM \(table.name) WHERE \(conditions)\(sort) LIMIT ?\(shape.prefix + shape.after + 1)"
    }

    /// The values of the first columns of an index, and its partial condition, so that SQLite uses
    /// the index.
    private static func condition(_ index: Table.Index, _ prefix: Int, _ table: Table) -> String {
        var conditions = index.order.prefix(prefix).enumerated().map {
            "\(table.columns[$1].name) = ?\($0 + 1)"
        }
        if let condition = index.condition {
            let name = table.columns[condition.column].name
            conditions.append(condition.value.map { "\(name) = \($0)" } ?? "\(name) IS NOT NULL")
        }
        return conditions.isEmpty ? "1" : conditions.joined(separator: " AND ")
    }

    private static func names(_ columns: [Int], _ table: Table) -> String {
        columns.map { table.columns[$0].name }.joined(separator: ", ")
    }
}

extension HotStatement {
    func bind(_ values: [ColumnValue], from first: Int32) {
        var parameter = first
        for value in values {
            switch value {
            case .null: self.bind(parameter, nil as Int64?)
            case .integer(let number): self.bind(parameter, number)
            case .text(let text): self.bind(parameter, text)
            case .bytes(let bytes): self.bind(parameter, bytes)
            }
            parameter += 1
        }
    }

    fileprivate func bind(_ range: TableRange, limit: Int) {
        self.bind(range.prefix, from: 1)
        self.bind(range.after, from: Int32(range.prefix.count + 1))
        self.bind(Int32(range.prefix.count + range.after.count + 1), Int64(limit))
    }

    /// The statement's row, with all columns of its table.
    fileprivate func row(of table: Table) -> [ColumnValue] {
        var values: [ColumnValue] = []
        values.reserveCapacity(table.columns.count)
        for (offset, column) in table.columns.enumerated() {
            let offset = Int32(offset)
            if column.isOptional, self.isNull(offset) {
                values.append(.null)
                continue
            }
            switch column.kind {
            case .integer: values.append(.integer(self.integer(offset)))
            case .text: values.append(.text(self.text(offset)))
            case .bytes: values.append(.bytes(self.bytes(offset)))
            }
        }
        return values
    }
}
