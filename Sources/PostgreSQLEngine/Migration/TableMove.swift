import StorageContract

/// Rows of whole tables on one connection, in the form that a move uses.
final class TableMove {
    let connection: PostgreSQLConnection
    private let tables: TableStatements

    init(_ connection: PostgreSQLConnection) {
        self.connection = connection
        self.tables = TableStatements(connection)
    }

    // MARK: Reading

    func rows(
        of table: Table,
        after key: [ColumnValue]?,
        limit: Int
    ) throws(StorageFailure) -> [[ColumnValue]] {
        try self.tables.rows(of: table, in: TableRange(index: table.key, after: key ?? []), limit: limit)
    }

    func count(of table: Table) throws(StorageFailure) -> Int {
        try self.tables.count(of: table, in: TableRange(index: table.key), limit: .max)
    }

    func lastKey(of table: Table) throws(StorageFailure) -> [ColumnValue]? {
        let range = TableRange(index: table.key, isDescending: true)
        return try self.tables.rows(of: table, in: range, limit: 1).first.map { table.key(of: $0) }
    }

    // MARK: Writing

    /// Inserts new rows in one statement, with an array for each column.
    func add(_ rows: [[ColumnValue]], to table: Table) throws(StorageFailure) {
        // PostgreSQL has no text with a zero byte, and the rules reject it.
        guard !rows.contains(where: { $0.contains(where: \.hasZero) }) else { throw .unexpected(code: 0) }
        let arrays = table.columns.enumerated().map { column, declared in
            SQLValue(rows.map { $0[column] }, declared.kind)
        }
        try self.connection.write(TransactionSQL.begin)
        try self.connection.write(TableSQL(table: table).insertion, arrays)
        try self.connection.write(TransactionSQL.commit)
        do throws(StorageFailure) {
            try self.connection.drain()
        } catch {
            _ = try? self.connection.rows(TransactionSQL.rollback)
            throw error
        }
    }

    // MARK: Numbers

    func lastNumbers() throws(StorageFailure) -> [String: Int64] {
        let row = StoreRow(try self.connection.rows(StoreRow.read))
        var numbers = [MovedNumbers.index: row.lastIndex]
        for table in MovedNumbers.tables {
            let rows = try self.connection.rows(MoveSQL.counter, [.text(table.name)])
            numbers[table.name] = rows.isEmpty ? 0 : rows.integer(0, 0)
        }
        return numbers
    }
}

/// Statements of a move other than those on rows.
enum MoveSQL {
    /// Marks a schema that a move is filling: it has no row of a store yet.
    static let makeMark = #"CREATE TABLE tidemark.move ("identity" bytea NOT NULL)"#
    static let mark = SQL("INSERT INTO tidemark.move VALUES ($1)", reach: .store)
    static let readMark = SQL(#"SELECT "identity" FROM tidemark.move"#, reach: .store)
    static let dropMark = SQL("DROP TABLE tidemark.move", reach: .store)
    static let hasMark = SQL("SELECT to_regclass('tidemark.move') IS NOT NULL", reach: .store)
    static let hasSchema = SQL("SELECT to_regnamespace('tidemark') IS NOT NULL", reach: .store)
    static let dropSchema = SQL("DROP SCHEMA tidemark CASCADE", reach: .store)

    static let counter = SQL("SELECT value FROM tidemark.counter WHERE name = $1", reach: .store)
    static let setCounter = SQL("INSERT INTO tidemark.counter (name, value) VALUES ($1, $2)", reach: .store)
    static let setNumbers = SQL(
        """
        UPDATE tidemark.store SET generation = 1, schema_version = 1, last_index = $1,
            last_record = (SELECT coalesce(max(number), 0) FROM tidemark.record) WHERE id = 1
        """,
        reach: .store
    )

    /// The last number of a numbered table.
    static func lastNumber(of table: Table) -> SQL {
        SQL(
            #"SELECT coalesce(max("\#(table.columns[0].name)"), 0) FROM tidemark."\#(table.name)""#,
            reach: .store
        )
    }

    static let waitsForever = SQL("SET idle_in_transaction_session_timeout = 0", reach: .store)

    static let beginAlone = SQL("BEGIN ISOLATION LEVEL REPEATABLE READ READ WRITE", reach: .store)
    static let time = SQL(
        "SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYYMMDD_HH24MISS')",
        reach: .store
    )

    /// Blocks writers, but not readers.
    static let lockAll = SQL(
        "LOCK TABLE "
            + (["tidemark.store", "tidemark.node", "tidemark.counter"]
            + Table.moved.map { #"tidemark."\#($0.name)""# })
            .joined(separator: ", ") + " IN EXCLUSIVE MODE",
        reach: .store
    )

    /// Hides the schema from every engine; its tables are kept.
    static func retire(as name: String) -> SQL {
        SQL("ALTER SCHEMA tidemark RENAME TO \(name)", reach: .store)
    }
}

extension TableSQL {
    /// Inserts rows, with an array for each column.
    var insertion: SQL {
        let names = self.table.columns.map { "\"\($0.name)\"" }.joined(separator: ", ")
        let arrays = self.table.columns.enumerated().map { offset, column in
            switch column.kind {
            case .integer: "$\(offset + 1)::bigint[]"
            case .text: "$\(offset + 1)::text[]"
            case .bytes: "$\(offset + 1)::bytea[]"
            }
        }
        return SQL(
            """
            INSERT INTO tidemark."\(self.table.name)" (\(names)) \
            SELECT * FROM unnest(\(arrays.joined(separator: ", ")))
            """,
            reach: .store
        )
    }
}
