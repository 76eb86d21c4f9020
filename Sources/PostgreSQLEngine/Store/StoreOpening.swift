import StorageContract

/// Checks a server and a database before a store in it is used, and creates missing tables.
struct StoreOpening {
    /// The oldest server version that this module is tested with.
    private static let serverNeeded = 150_000

    let target: ConnectionTarget

    /// Checks the server, and creates the tables if they are absent and `makesTables`.
    ///
    /// - Returns: The identity of the store.
    func prepare(makesTables: Bool) throws(PostgreSQLEngineError) -> [UInt8] {
        let connection: PostgreSQLConnection
        do throws(PostgreSQLError) {
            connection = try PostgreSQLConnection(self.target)
        } catch {
            throw PostgreSQLEngineError(error, self.target)
        }
        try Self.check(version: connection.serverVersion, encoding: connection.parameter("server_encoding"))
        try PoolerCheck(target: self.target).refusePooler(of: connection)
        if let identity = try self.identity(connection) { return identity }
        guard makesTables else { throw .isMissing(target: self.target.text) }
        try self.makeTables(connection)
        guard let identity = try self.identity(connection) else { throw .isMissing(target: self.target.text) }
        return identity
    }

    static func check(version: Int, encoding: String) throws(PostgreSQLEngineError) {
        guard version >= self.serverNeeded else {
            throw .serverTooOld(found: version / 10_000, needed: self.serverNeeded / 10_000)
        }
        guard encoding == "UTF8" else { throw .wrongEncoding(found: encoding) }
    }

    /// Finds the store, checks its format, and returns its identity; `nil` if there is no store.
    private func identity(_ connection: PostgreSQLConnection) throws(PostgreSQLEngineError) -> [UInt8]? {
        let found: (format: Int64, isReleased: Bool, identity: [UInt8])?
        do throws(PostgreSQLError) {
            found = try Self.find(connection)
        } catch {
            throw PostgreSQLEngineError(error, self.target)
        }
        guard let found else {
            if try self.hasUnfinishedMove(connection) { throw .moveIsUnfinished(target: self.target.text) }
            return nil
        }
        guard found.isReleased else { throw .formatUnreleased }
        guard found.format <= StoreTables.format else {
            throw .formatTooNew(found: Int(found.format), known: Int(StoreTables.format))
        }
        return found.identity
    }

    private static func find(
        _ connection: PostgreSQLConnection
    ) throws(PostgreSQLError) -> (format: Int64, isReleased: Bool, identity: [UInt8])? {
        let setting = try connection.query(
            SQL("SELECT current_setting('transaction_read_only')", reach: .store)
        )
        if setting.text(0, 0) == "on" { throw PostgreSQLError(.refused(.readOnly), "") }
        let tables = try connection.query(
            SQL("SELECT to_regclass('tidemark.store') IS NOT NULL", reach: .store)
        )
        guard tables.integer(0, 0) != 0 else { return nil }
        let rows = try connection.query(
            SQL(
                // Tables from before the first release lack the column.
                #"SELECT format, to_jsonb(store) ? 'release', "identity" FROM tidemark.store WHERE id = 1"#,
                reach: .store
            )
        )
        return rows.isEmpty ? nil : (rows.integer(0, 0), rows.integer(0, 1) != 0, rows.bytes(0, 2))
    }

    private func hasUnfinishedMove(
        _ connection: PostgreSQLConnection
    ) throws(PostgreSQLEngineError) -> Bool {
        do throws(PostgreSQLError) {
            return try connection.query(MoveSQL.hasMark).integer(0, 0) != 0
        } catch {
            throw PostgreSQLEngineError(error, self.target)
        }
    }

    private static func newIdentity() -> [UInt8] { (0..<16).map { _ in UInt8.random(in: .min ... .max) } }

    /// Creates all tables in one transaction, unless another process is creating them.
    private func makeTables(_ connection: PostgreSQLConnection) throws(PostgreSQLEngineError) {
        do throws(PostgreSQLError) {
            try connection.send(TransactionSQL.begin)
            for statement in StoreTables.definition { try connection.send(statement) }
            try connection.send(StoreTables.storeRow, [.bytes(Self.newIdentity())])
            try connection.send(TransactionSQL.commit)
            try connection.receive()
        } catch {
            // Another process was faster, and has created the same.
            if [.duplicateSchema, .duplicateTable, .uniqueViolation].contains(error.state) {
                _ = try? connection.query(TransactionSQL.rollback)
                return
            }
            throw PostgreSQLEngineError(error, self.target)
        }
    }
}

/// Statements that begin and end transactions and savepoints.
enum TransactionSQL {
    static let begin = SQL("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE", reach: .store)
    static let beginReading = SQL("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", reach: .store)
    static let commit = SQL("COMMIT", reach: .store)
    static let rollback = SQL("ROLLBACK", reach: .store)
    static let savepoint = SQL("SAVEPOINT job", reach: .store)
    static let release = SQL("RELEASE SAVEPOINT job", reach: .store)
    static let rollbackToSavepoint = SQL("ROLLBACK TO SAVEPOINT job", reach: .store)
}
