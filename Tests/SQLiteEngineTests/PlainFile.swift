import GRDBSQLite

@testable import SQLiteEngine

/// A file of SQLite without anything between it and the test.
final class PlainFile {
    struct Failure: Error {
        let code: Int32
        let sql: String
    }

    private let connection: OpaquePointer

    init(path: String) throws {
        var connection: OpaquePointer?
        let code = sqlite3_open(path, &connection)
        guard code == SQLITE_OK, let connection else { throw Failure(code: code, sql: path) }
        self.connection = connection
    }

    deinit { sqlite3_close(self.connection) }

    func run(_ sql: String) throws {
        let code = sqlite3_exec(self.connection, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw Failure(code: code, sql: sql) }
    }

    /// Has the connection compare and write the checksums of pages, as those of the engine.
    func useSums() throws { try SQLiteProcess.useSums(self.connection) }

    private func prepared(_ sql: String) throws -> OpaquePointer {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v2(self.connection, sql, -1, &statement, nil)
        guard code == SQLITE_OK, let statement else { throw Failure(code: code, sql: sql) }
        return statement
    }

    func texts(_ sql: String) throws -> [String] {
        let statement = try self.prepared(sql)
        defer { sqlite3_finalize(statement) }
        var texts: [String] = []
        var code = sqlite3_step(statement)
        while code == SQLITE_ROW {
            texts.append(sqlite3_column_text(statement, 0).map { String(cString: $0) } ?? "")
            code = sqlite3_step(statement)
        }
        guard code == SQLITE_DONE else { throw Failure(code: code, sql: sql) }
        return texts
    }

    /// Adds all values of all rows to a hash.
    func hash(_ sql: String, into hasher: inout Hasher) throws {
        let statement = try self.prepared(sql)
        defer { sqlite3_finalize(statement) }
        var code = sqlite3_step(statement)
        while code == SQLITE_ROW {
            for column in 0..<sqlite3_column_count(statement) {
                let bytes = sqlite3_column_blob(statement, column)
                let count = Int(sqlite3_column_bytes(statement, column))
                hasher.combine(count)
                // SAFETY: SQLite keeps the bytes until the next step; they are used in the call only.
                hasher.combine(bytes: UnsafeRawBufferPointer(start: bytes, count: count))
            }
            code = sqlite3_step(statement)
        }
        guard code == SQLITE_DONE else { throw Failure(code: code, sql: sql) }
    }

    func rows(_ sql: String) throws -> [[Int64]] {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v2(self.connection, sql, -1, &statement, nil)
        guard code == SQLITE_OK else { throw Failure(code: code, sql: sql) }
        defer { sqlite3_finalize(statement) }
        var rows: [[Int64]] = []
        while sqlite3_step(statement) == SQLITE_ROW {
            rows.append((0..<sqlite3_column_count(statement)).map { sqlite3_column_int64(statement, $0) })
        }
        return rows
    }
}
