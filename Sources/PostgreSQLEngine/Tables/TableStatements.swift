import StorageContract

/// Rows of declared tables, on whatever connection.
final class TableStatements: TableReader {
    private struct Key: Hashable {
        let table: ObjectIdentifier
        let operation: TableOperation
    }

    private let connection: PostgreSQLConnection
    private var statements: [Key: SQL] = [:]

    init(_ connection: PostgreSQLConnection) { self.connection = connection }

    private func statement(_ operation: TableOperation, _ table: Table) -> SQL {
        let key = Key(table: ObjectIdentifier(table), operation: operation)
        if let known = self.statements[key] { return known }
        let made = TableSQL(table: table).statement(operation)
        self.statements[key] = made
        return made
    }

    // MARK: Reading

    func rows(
        of table: Table,
        by index: Table.Index,
        keys: [[ColumnValue]]
    ) throws(StorageFailure) -> [[ColumnValue]?] {
        guard let question = self.question(of: table, by: index, keys: keys) else {
            return keys.map { _ in nil }
        }
        return try self.connection.rows(question).rows(of: table, count: keys.count)
    }

    /// The question that finds rows by key; `nil` if a key has a text that PostgreSQL cannot hold, as no row
    /// has one.
    func question(of table: Table, by index: Table.Index, keys: [[ColumnValue]]) -> Question? {
        guard keys.count == 1 else {
            guard !keys.isEmpty else { return nil }
            let arrays = index.columns.enumerated().map { offset, column in
                SQLValue(keys.map { $0[offset].hasZero ? .null : $0[offset] }, table.columns[column].kind)
            }
            return Question(self.statement(.findAll(index: index.offset), table), arrays)
        }
        guard !keys[0].contains(where: \.hasZero) else { return nil }
        return Question(self.statement(.find(index: index.offset), table), keys[0].map { SQLValue($0) })
    }

    func rows(
        of table: Table,
        in range: TableRange,
        limit: Int
    ) throws(StorageFailure) -> [[ColumnValue]] {
        guard let question = self.question(of: table, in: range, limit: limit) else { return [] }
        return try self.connection.rows(question).rows(of: table)
    }

    func question(of table: Table, in range: TableRange, limit: Int) -> Question? {
        range.representable.map { range in
            Question(self.statement(.range(TableShape(range)), table), range.parameters(limit: limit))
        }
    }

    func count(of table: Table, in range: TableRange, limit: Int) throws(StorageFailure) -> Int {
        guard let range = range.representable else { return 0 }
        let rows = try self.connection.rows(
            self.statement(.count(TableShape(range)), table),
            range.parameters(limit: limit)
        )
        return Int(rows.integer(0, 0))
    }

    // MARK: Writing

    /// Writes a row without waiting.
    func put(_ row: [ColumnValue], in table: Table) throws(StorageFailure) {
        // Rules check names; a text with a zero byte would be a fault of ours.
        guard !row.contains(where: \.hasZero) else { throw .unexpected(code: 0) }
        try self.connection.write(self.statement(.put, table), row.map { SQLValue($0) })
    }

    /// Deletes a row without waiting.
    func delete(key: [ColumnValue], from table: Table) throws(StorageFailure) {
        guard !key.contains(where: \.hasZero) else { return }
        try self.connection.write(self.statement(.delete, table), key.map { SQLValue($0) })
    }

    func delete(from table: Table, in range: TableRange, limit: Int) throws(StorageFailure) -> Int {
        guard let range = range.representable else { return 0 }
        return try self.connection.rows(
            self.statement(.deleteRange(TableShape(range)), table),
            range.parameters(limit: limit)
        ).changesCount
    }
}

extension ResultRows {
    /// Rows of a declared table.
    func rows(of table: Table) -> [[ColumnValue]] { (0..<self.count).map { self.row($0, of: table) } }

    /// Rows of a declared table by a number of keys: one a key, in their order.
    func rows(of table: Table, count: Int) -> [[ColumnValue]?] {
        guard count > 1 else { return [self.isEmpty ? nil : self.row(0, of: table)] }
        var found = [[ColumnValue]?](repeating: nil, count: count)
        for row in 0..<self.count { found[Int(self.integer(row, 0)) - 1] = self.row(row, of: table, from: 1) }
        return found
    }

    /// A row of a declared table; its columns begin at column `first` of the result.
    fileprivate func row(_ row: Int, of table: Table, from first: Int = 0) -> [ColumnValue] {
        table.columns.enumerated().map { offset, column in
            let offset = first + offset
            if column.isOptional, self.isNull(row, offset) { return .null }
            return switch column.kind {
            case .integer: .integer(self.integer(row, offset))
            case .text: .text(self.text(row, offset))
            case .bytes: .bytes(self.bytes(row, offset))
            }
        }
    }
}

extension SQLValue {
    init(_ value: ColumnValue) {
        switch value {
        case .null: self = .null
        case .integer(let number): self = .integer(number)
        case .text(let text): self = .text(text)
        case .bytes(let bytes): self = .bytes(bytes)
        }
    }

    /// The values of one column as an array.
    init(_ values: [ColumnValue], _ kind: Table.Column.Kind) {
        switch kind {
        case .integer: self = .integers(values.map { Int64(columnValue: $0) })
        case .text: self = .texts(values.map { String(columnValue: $0) })
        case .bytes: self = .byteStrings(values.map { [UInt8](columnValue: $0) })
        }
    }
}

extension ColumnValue {
    /// Whether it is a text with a zero byte, which no text of PostgreSQL may have.
    var hasZero: Bool {
        guard case .text(let text) = self else { return false }
        return text.utf8.contains(0)
    }
}

extension TableRange {
    fileprivate func parameters(limit: Int) -> [SQLValue] {
        (self.prefix + self.after).map { SQLValue($0) } + [.integer(Int64(limit))]
    }

    /// The same range with texts that PostgreSQL can hold; `nil` if it has no rows.
    ///
    /// Rules write the least text behind another one as that text and a zero byte. No text of a row has
    /// such a byte. So what is behind that text is what is behind the text without it.
    fileprivate var representable: TableRange? {
        guard !self.prefix.contains(where: \.hasZero) else { return nil }
        guard let offset = self.after.firstIndex(where: \.hasZero), case .text(let text) = self.after[offset]
        else { return self }
        let start = String(decoding: text.utf8.prefix { $0 != 0 }, as: UTF8.self)
        // Everything before it, and that text as well, is before the next one that can be.
        let bound = self.isDescending ? start + "\u{1}" : start
        return TableRange(
            index: self.index,
            prefix: self.prefix,
            after: self.after[..<offset] + [.text(bound)],
            isDescending: self.isDescending
        )
    }
}
