import GRDBSQLite
import StorageContract

/// Rows of a file in the form that a move uses, read and written on a connection of its own.
///
/// GRDB observes the transactions of its connections, and would miss statements that it does not
/// run.
final class FileRows {
    let tables: TableStatements
    private let connection: OpaquePointer
    private let isLastChange: HotStatement

    /// Number of change blocks read at once.
    private static let blocksMax = 16

    /// Opens a file with tables in the current format.
    init(_ path: String) throws(StorageFailure) {
        var connection: OpaquePointer?
        _ = SQLiteProcess.isSetUp
        let code = sqlite3_open_v2(path, &connection, SQLITE_OPEN_READWRITE, nil)
        guard code == SQLITE_OK, let connection else {
            sqlite3_close_v2(connection)
            throw StorageFailure(sqliteCode: code)
        }
        sqlite3_busy_timeout(connection, Int32(DatabaseFile.busyTimeoutSeconds * 1_000))
        do {
            try SQLiteProcess.useSums(connection)
        } catch {
            sqlite3_close_v2(connection)
            throw StorageFailure(error)
        }
        do throws(StorageFailure) {
            self.isLastChange = try HotStatement(
                "SELECT 1 FROM record WHERE number = ? AND database = ? AND zone = ? AND position = ?",
                on: connection
            )
        } catch {
            sqlite3_close_v2(connection)
            throw error
        }
        self.connection = connection
        self.tables = TableStatements(connection: connection)
    }

    /// SQLite closes the file when the last statement is finalized, a moment later.
    deinit { sqlite3_close_v2(self.connection) }

    func execute(_ sql: String, _ values: [ColumnValue] = []) throws(StorageFailure) {
        let statement = try HotStatement(sql, on: self.connection)
        statement.bind(values, from: 1)
        try statement.run()
    }

    private func integer(_ sql: String, _ values: [ColumnValue] = []) throws(StorageFailure) -> Int64 {
        let statement = try HotStatement(sql, on: self.connection)
        statement.bind(values, from: 1)
        return try statement.step() ? statement.integer(0) : 0
    }

    // MARK: Reading

    func count(of table: Table) throws(StorageFailure) -> Int {
        // Blocks contain stale entries; each record has one current entry.
        let name = table === ContentTables.change ? ContentTables.record.name : table.name
        return Int(try self.integer("SELECT count(*) FROM \(name)"))
    }

    func rows(
        of table: Table,
        after key: [ColumnValue]?,
        limit: Int
    ) throws(StorageFailure) -> [[ColumnValue]] {
        if table === ContentTables.change { return try self.changes(after: key, limit: limit) }
        let (own, index) = FileTable.table(for: table)
        guard table === ContentTables.entry else {
            return try self.tables.rows(of: own, in: TableRange(index: index, after: key ?? []), limit: limit)
        }
        let after = try key.map { (key) throws(StorageFailure) in try FileTable.key(ofEntry: key) } ?? []
        var entries: [[ColumnValue]] = []
        for row in try self.tables.rows(
            of: own,
            in: TableRange(index: index, after: after),
            limit: limit
        ) {
            entries.append(try FileTable.entry(row))
        }
        return entries
    }

    /// Changes after a key that are the last ones of their records.
    private func changes(
        after key: [ColumnValue]?,
        limit: Int
    ) throws(StorageFailure) -> [[ColumnValue]] {
        var changes: [[ColumnValue]] = []
        // The key of a block is that of its last entry: the first block after the key may begin
        // before it.
        var after = key
        while changes.count < limit {
            let blocks = try self.tables.rows(
                of: FileTable.change,
                in: TableRange(index: FileTable.change.key, after: after ?? []),
                limit: Self.blocksMax
            )
            for block in blocks {
                for change in try self.changes(in: block) {
                    if let key, !key.lexicographicallyPrecedes(change.prefix(3)) { continue }
                    changes.append(change)
                }
            }
            guard blocks.count == Self.blocksMax, let last = blocks.last else { break }
            after = Array(last.prefix(3))
        }
        return Array(changes.prefix(limit))
    }

    private func changes(in block: [ColumnValue]) throws(StorageFailure) -> [[ColumnValue]] {
        guard case .bytes(let bytes) = block[3], let entries = ChangeBlock.decode(bytes) else {
            throw .unexpected(code: 0)
        }
        var changes: [[ColumnValue]] = []
        for entry in entries {
            let record = ColumnValue.integer(entry.record)
            let position = ColumnValue.integer(entry.position)
            self.isLastChange.bind([record, block[0], block[1], position], from: 1)
            guard try self.isLastChange.step() else { continue }
            self.isLastChange.reset()
            changes.append([block[0], block[1], position, record])
        }
        return changes
    }

    func lastKey(of table: Table) throws(StorageFailure) -> [ColumnValue]? {
        let (own, index) = FileTable.table(for: table)
        let range = TableRange(index: index, isDescending: true)
        guard let row = try self.tables.rows(of: own, in: range, limit: 1).first else { return nil }
        if table === ContentTables.entry { return try FileTable.entry(row) }
        return table.key(of: row)
    }

    func lastNumbers() throws(StorageFailure) -> [String: Int64] {
        var numbers = [MovedNumbers.index: try self.integer("SELECT last FROM index_counter")]
        for table in MovedNumbers.tables {
            numbers[table.name] = try self.integer(
                "SELECT seq FROM sqlite_sequence WHERE name = ?",
                [.text(table.name)]
            )
        }
        return numbers
    }

    // MARK: Writing

    func add(_ rows: [[ColumnValue]], to table: Table) throws(StorageFailure) {
        let (own, _) = FileTable.table(for: table)
        switch table.name {
        case ContentTables.change.name: try self.tables.put(try self.blocks(of: rows), in: own)
        case ContentTables.entry.name:
            for row in rows { try self.tables.put([try FileTable.key(ofEntry: row)], in: own) }
        default: try self.tables.put(rows, in: own)
        }
    }

    /// Changes in order as blocks; each block belongs to one zone.
    private func blocks(of rows: [[ColumnValue]]) throws(StorageFailure) -> [[ColumnValue]] {
        var blocks: [[ColumnValue]] = []
        var entries: [ChangeBlock.Entry] = []
        var last: [ColumnValue] = []
        func endBlock() {
            guard !entries.isEmpty else { return }
            blocks.append(last.prefix(3) + [.bytes(ChangeBlock.encode(entries))])
            entries = []
        }
        for row in rows {
            guard case .integer(let position) = row[2], case .integer(let record) = row[3] else {
                throw .unexpected(code: 0)
            }
            if entries.count == ChangeBlock.entriesMax || !last.prefix(2).elementsEqual(row.prefix(2)) {
                endBlock()
            }
            entries.append(ChangeBlock.Entry(position: position, record: record))
            last = row
        }
        endBlock()
        return blocks
    }

    func set(_ numbers: [String: Int64]) throws(StorageFailure) {
        for table in MovedNumbers.tables {
            let values: [ColumnValue] = [.text(table.name), .integer(numbers[table.name] ?? 0)]
            try self.execute("DELETE FROM sqlite_sequence WHERE name = ?", Array(values.prefix(1)))
            try self.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", values)
        }
        try self.execute("UPDATE index_counter SET last = ?", [.integer(numbers[MovedNumbers.index] ?? 0)])
    }
}
