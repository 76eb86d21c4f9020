/// A table that the store declares: the only place that knows the names of its columns.
///
/// An engine stores the rows of such tables and finds them again, and gives them no meaning. From a
/// declaration it makes whatever it needs, once: tables and indexes, statements, encoded keys.
///
/// Identity counts: a table is declared once, as the `table` of its `TableRow`.
@usableFromInline
package final class Table: Sendable {
    package let name: String
    package let columns: [Column]
    /// The key as an index, which is unique, and then the other indexes.
    package let indexes: [Index]
    package let numbering: Numbering

    /// Whether the engine gives a number to a row that has none yet.
    ///
    /// Then the number is the first column, and the key. The first number is 1, and a new number is
    /// above those of all rows that are there.
    package enum Numbering: Sendable {
        case none
        /// The number of a row that is gone may be given again.
        case numbered
        /// No number is given twice for as long as the store lives.
        case numberedOnce
    }

    package struct Column: Sendable {
        package enum Kind: Sendable { case integer, text, bytes }

        package let name: String
        package let kind: Kind
        /// Whether it may be null.
        package let isOptional: Bool

        package static func integer(_ name: String) -> Column {
            Column(name: name, kind: .integer, isOptional: false)
        }

        package static func text(_ name: String) -> Column {
            Column(name: name, kind: .text, isOptional: false)
        }

        package static func bytes(_ name: String) -> Column {
            Column(name: name, kind: .bytes, isOptional: false)
        }

        package static func optional(_ column: Column) -> Column {
            Column(name: column.name, kind: column.kind, isOptional: true)
        }
    }

    /// The columns of an index, by name.
    package struct IndexDeclaration: Sendable {
        fileprivate let columns: [String]
        fileprivate let isUnique: Bool
        fileprivate let condition: (column: String, value: Int64?)?

        /// No two rows have the same values in these columns.
        ///
        /// Null equals nothing, not even null.
        package static func unique(_ columns: String...) -> IndexDeclaration {
            IndexDeclaration(columns: columns, isUnique: true, condition: nil)
        }

        /// For finding rows.
        package static func lookup(_ columns: String...) -> IndexDeclaration {
            IndexDeclaration(columns: columns, isUnique: false, condition: nil)
        }

        /// The same index with those rows alone that have an integer, or any value but null without
        /// one.
        package func only(where column: String, is value: Int64? = nil) -> IndexDeclaration {
            IndexDeclaration(columns: self.columns, isUnique: self.isUnique, condition: (column, value))
        }
    }

    /// An order of the table's rows: by the columns of the index, and where these are equal by the
    /// key.
    @usableFromInline
    package struct Index: Hashable, Sendable {
        /// Offset in `Table.indexes`; 0 is the key.
        package let offset: Int
        /// Offsets in `Table.columns`.
        package let columns: [Int]
        /// The columns and then the rest of the key: what rows are ordered by.
        package let order: [Int]
        package let isUnique: Bool
        package let condition: Condition?
    }

    /// The rows that an index has.
    package struct Condition: Hashable, Sendable {
        /// Offset in `Table.columns`.
        package let column: Int
        /// `nil` if it may be any but null.
        package let value: Int64?

        package func isMet(by row: [ColumnValue]) -> Bool {
            self.value.map { row[self.column] == .integer($0) } ?? (row[self.column] != .null)
        }
    }

    package init(
        _ name: String,
        columns: [Column],
        key: [String],
        numbering: Numbering = .none,
        indexes: [IndexDeclaration] = []
    ) {
        func offset(_ column: String) -> Int {
            guard let offset = columns.firstIndex(where: { $0.name == column }) else {
                preconditionFailure("table \(name) has no column \(column)")
            }
            return offset
        }
        let declared = [IndexDeclaration(columns: key, isUnique: true, condition: nil)] + indexes
        let key = key.map(offset)
        self.name = name
        self.columns = columns
        self.numbering = numbering
        self.indexes = declared.enumerated().map { number, index in
            let columns = index.columns.map(offset)
            return Index(
                offset: number,
                columns: columns,
                order: columns + key.filter { !columns.contains($0) },
                isUnique: index.isUnique,
                condition: index.condition.map { Condition(column: offset($0.column), value: $0.value) }
            )
        }
        precondition(numbering == .none || self.key.columns == [0], "a number is the first column")
    }

    package var key: Index { self.indexes[0] }

    /// The key of a row.
    package func key(of row: [ColumnValue]) -> [ColumnValue] { self.key.columns.map { row[$0] } }

    /// The declared index on exactly these columns; with a condition on a column, if one is named.
    fileprivate func index(on columns: [String], where condition: String? = nil) -> Index {
        let found = self.indexes.first { index in
            index.columns.map { self.columns[$0].name } == columns
                && (condition == nil || condition == index.condition.map { self.columns[$0.column].name })
        }
        guard let found else { preconditionFailure("table \(self.name) has no index on \(columns)") }
        return found
    }
}

/// A part of a table that is one piece in the order of an index.
@usableFromInline
package struct TableRange: Hashable, Sendable {
    @usableFromInline package var index: Table.Index
    /// Values of the first columns of the index's order, all of them not null.
    @usableFromInline package var prefix: [ColumnValue]
    /// Values of the columns of the order after those of `prefix`; the range begins behind them in
    /// its direction.
    ///
    /// Empty if it begins with the first row. The columns are compared one after the other, as many
    /// as there are values, and no value is null.
    @usableFromInline package var after: [ColumnValue]
    @usableFromInline package var isDescending: Bool

    /// Rows that a visitor of a long range has in memory at a time.
    static let visitedMax = 500

    @usableFromInline
    package init(
        index: Table.Index,
        prefix: [ColumnValue] = [],
        after: [ColumnValue] = [],
        isDescending: Bool = false
    ) {
        precondition(prefix.count + after.count <= index.order.count)
        self.index = index
        self.prefix = prefix
        self.after = after
        self.isDescending = isDescending
    }
}

/// A row of a declared table as a Swift struct.
///
/// Reads and writes its columns in the order of the declaration.
@usableFromInline
package protocol TableRow: Sendable {
    static var table: Table { get }
    init(_ columns: inout ColumnReader) throws(StorageFailure)
    func write(to columns: inout ColumnWriter)
}

extension TableRow {
    /// The key of the table.
    package static var byKey: RowIndex<Self> { RowIndex(index: self.table.key) }

    /// A declared index of the table.
    package static func index(on columns: String...) -> RowIndex<Self> {
        RowIndex(index: self.table.index(on: columns))
    }

    /// A declared index that has rows with a condition on a column.
    package static func index(on columns: String..., where condition: String) -> RowIndex<Self> {
        RowIndex(index: self.table.index(on: columns, where: condition))
    }

    package init(values: [ColumnValue]) throws(StorageFailure) {
        var reader = ColumnReader(values: values)
        try self.init(&reader)
    }

    package var values: [ColumnValue] {
        var writer = ColumnWriter(capacity: Self.table.columns.count)
        self.write(to: &writer)
        return writer.values
    }
}

/// An index of the table of one kind of row.
@usableFromInline
package struct RowIndex<Row: TableRow>: Sendable {
    @usableFromInline package let index: Table.Index
}

/// The values of a row, one after the other.
@usableFromInline
package struct ColumnReader {
    private let values: [ColumnValue]
    private var offset = 0

    fileprivate init(values: [ColumnValue]) { self.values = values }

    /// The value of the next column.
    ///
    /// - Throws: `unexpected` if it is no value of the type: the row was not written by this
    ///   server.
    package mutating func next<Value: ColumnConvertible>() throws(StorageFailure) -> Value {
        defer { self.offset += 1 }
        guard let value = Value(columnValue: self.values[self.offset]) else {
            throw .unexpected(code: 0)
        }
        return value
    }
}

/// Collects the values of a row.
@usableFromInline
package struct ColumnWriter {
    fileprivate private(set) var values: [ColumnValue] = []

    fileprivate init(capacity: Int) { self.values.reserveCapacity(capacity) }

    package mutating func append(_ value: some ColumnConvertible) { self.values.append(value.columnValue) }
}
