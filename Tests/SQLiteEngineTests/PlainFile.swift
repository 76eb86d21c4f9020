import GRDBSQLite

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
