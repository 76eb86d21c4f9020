import GRDBSQLite
import RecordModel
import StorageContract

/// A statement that is compiled once and run millions of times, directly on SQLite.
///
/// Its user has exclusive use of the connection: the writer's thread, or the borrower of a read
/// connection.
final class HotStatement {
    private let connection: OpaquePointer
    private let statement: OpaquePointer

    init(_ sql: String, on connection: OpaquePointer) throws(StorageFailure) {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v3(connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK, let statement else { throw StorageFailure(sqliteCode: code) }
        self.connection = connection
        self.statement = statement
    }

    deinit { sqlite3_finalize(self.statement) }

    /// Makes SQLite copy bound bytes, which need not outlive the call.
    ///
    /// SAFETY: SQLite documents -1 in place of a destructor for this purpose, and never calls it.
    private nonisolated(unsafe) static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    func bind(_ column: Int32, _ integer: Int64) { sqlite3_bind_int64(self.statement, column, integer) }

    func bind(_ column: Int32, _ integer: Int64?) {
        guard let integer else {
            sqlite3_bind_null(self.statement, column)
            return
        }
        self.bind(column, integer)
    }

    func bind(_ column: Int32, _ text: String) {
        var text = text
        text.withUTF8 { utf8 in
            // SAFETY: SQLite copies the bytes before the call returns; UTF-8 has no other reader meanwhile.
            utf8.withMemoryRebound(to: CChar.self) { characters in
                // An empty buffer may have no address, and SQLite takes a null address for NULL.
                guard let start = characters.baseAddress else {
                    sqlite3_bind_text(self.statement, column, "", 0, Self.transient)
                    return
                }
                sqlite3_bind_text(self.statement, column, start, Int32(characters.count), Self.transient)
            }
        }
    }

    func bind(_ column: Int32, _ text: String?) {
        guard let text else {
            sqlite3_bind_null(self.statement, column)
            return
        }
        self.bind(column, text)
    }

    func bind(_ column: Int32, _ bytes: [UInt8]) {
        guard !bytes.isEmpty else {
            sqlite3_bind_zeroblob(self.statement, column, 0)
            return
        }
        // SAFETY: SQLite copies the bytes before the call returns.
        bytes.withUnsafeBytes { buffer in
            _ = sqlite3_bind_blob(
                self.statement,
                column,
                buffer.baseAddress,
                Int32(buffer.count),
                Self.transient
            )
        }
    }

    func bind(_ column: Int32, _ bytes: [UInt8]?) {
        guard let bytes else {
            sqlite3_bind_null(self.statement, column)
            return
        }
        self.bind(column, bytes)
    }

    /// Binds bytes without copying them, and runs a statement without rows.
    ///
    /// A non-empty text is not copied either.
    func run(text: String, at textColumn: Int32, bytes: [UInt8], at bytesColumn: Int32) throws(StorageFailure)
    {
        var text = text
        // SAFETY: the buffer outlives the step, and `stepOnce` clears the bindings.
        let code = text.withUTF8 { utf8 in
            utf8.withMemoryRebound(to: CChar.self) { characters in
                let start = characters.baseAddress
                sqlite3_bind_text(self.statement, textColumn, start, Int32(characters.count), nil)
                return self.stepOnce(bytes: bytes, at: bytesColumn)
            }
        }
        guard code == SQLITE_DONE else { throw StorageFailure(sqliteCode: code) }
    }

    /// Binds bytes without copying them and runs a statement without rows.
    func run(bytes: [UInt8], at column: Int32) throws(StorageFailure) {
        let code = self.stepOnce(bytes: bytes, at: column)
        guard code == SQLITE_DONE else { throw StorageFailure(sqliteCode: code) }
    }

    /// Returns the extended code of a failure; nothing is bound afterwards.
    private func stepOnce(bytes: [UInt8], at column: Int32) -> Int32 {
        // SAFETY: the buffer outlives the step, and nothing is bound to it after this function.
        bytes.withUnsafeBytes { buffer in
            if let start = buffer.baseAddress, !buffer.isEmpty {
                sqlite3_bind_blob(self.statement, column, start, Int32(buffer.count), nil)
            } else {
                sqlite3_bind_zeroblob(self.statement, column, 0)
            }
            let code = sqlite3_step(self.statement)
            let outcome = code == SQLITE_DONE ? code : sqlite3_extended_errcode(self.connection)
            sqlite3_reset(self.statement)
            sqlite3_clear_bindings(self.statement)
            return outcome
        }
    }

    /// Steps to the next row; `false` at the end.
    ///
    /// After the end, or a failure, the statement is ready to be run again.
    func step() throws(StorageFailure) -> Bool {
        let code = sqlite3_step(self.statement)
        if code == SQLITE_ROW { return true }
        sqlite3_reset(self.statement)
        guard code == SQLITE_DONE else {
            throw StorageFailure(sqliteCode: sqlite3_extended_errcode(self.connection))
        }
        return false
    }

    /// Steps to the next row, unless that takes more than `operationsMax` of SQLite's operations.
    ///
    /// Returns `nil` if it does; the statement is then ready to be run again.
    func step(operationsMax: Int) throws(StorageFailure) -> Bool? {
        // SQLite includes the operations of earlier runs unless they are reset.
        sqlite3_stmt_status(self.statement, SQLITE_STMTSTATUS_VM_STEP, 1)
        sqlite3_progress_handler(self.connection, Int32(clamping: operationsMax), { _ in 1 }, nil)
        defer { sqlite3_progress_handler(self.connection, 0, nil, nil) }
        do throws(StorageFailure) {
            return try self.step()
        } catch {
            guard sqlite3_errcode(self.connection) & 0xFF == SQLITE_INTERRUPT else { throw error }
            return nil
        }
    }

    /// Runs a statement without rows.
    func run() throws(StorageFailure) {
        while try self.step() {}
    }

    /// Ends reading before the last row.
    func reset() { sqlite3_reset(self.statement) }

    /// The number of the last inserted row.
    var lastInsertedNumber: Int64 { sqlite3_last_insert_rowid(self.connection) }

    /// Rows changed by the last statement; 0 if the row already had its values.
    var changesCount: Int { Int(sqlite3_changes(self.connection)) }

    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(self.statement, column) }

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(self.statement, column) == SQLITE_NULL }

    func bytes(_ column: Int32) -> [UInt8] {
        guard let start = sqlite3_column_blob(self.statement, column) else { return [] }
        let count = Int(sqlite3_column_bytes(self.statement, column))
        // SAFETY: SQLite keeps the bytes where they are until the next step; they are copied here.
        return Array(UnsafeRawBufferPointer(start: start, count: count))
    }

    /// The bytes of a value in SQLite's memory; text is in UTF-8.
    ///
    /// SAFETY: valid until the statement steps or is reset; the caller keeps them no longer.
    func lent(_ column: Int32) -> UnsafeRawBufferPointer {
        // Reading text as a blob avoids a copy: SQLite would append a terminating zero.
        guard let start = sqlite3_column_blob(self.statement, column) else {
            return UnsafeRawBufferPointer(start: nil, count: 0)
        }
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(self.statement, column)))
    }

    func text(_ column: Int32) -> String {
        guard let start = sqlite3_column_text(self.statement, column) else { return "" }
        let count = Int(sqlite3_column_bytes(self.statement, column))
        // SAFETY: SQLite keeps the bytes where they are until the next step; they are copied here.
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }
}

extension HotStatement {
    /// Whether there is a row; the statement is then ready to be run again.
    func hasRow() throws(StorageFailure) -> Bool {
        guard try self.step() else { return false }
        self.reset()
        return true
    }
}
