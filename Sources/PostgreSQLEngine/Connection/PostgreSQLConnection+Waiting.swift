import StorageContract

/// A statement with its parameters.
struct Question {
    let sql: SQL
    let parameters: [SQLValue]

    init(_ sql: SQL, _ parameters: [SQLValue]) {
        self.sql = sql
        self.parameters = parameters
    }
}

/// Statements of jobs, which fail as jobs do.
extension PostgreSQLConnection {
    /// Sends a statement, and waits for it and all before it.
    func rows(_ sql: SQL, _ parameters: [SQLValue] = []) throws(StorageFailure) -> ResultRows {
        try self.sendBefore()
        do throws(PostgreSQLError) {
            return try self.query(sql, parameters)
        } catch {
            throw StorageFailure(error)
        }
    }

    func rows(_ question: Question) throws(StorageFailure) -> ResultRows {
        try self.rows(question.sql, question.parameters)
    }

    /// Sends a statement without waiting.
    func write(
        _ sql: SQL,
        _ parameters: [SQLValue] = [],
        receive: ((ResultRows) -> Void)? = nil
    ) throws(StorageFailure) {
        try self.sendBefore()
        do throws(PostgreSQLError) {
            try self.send(sql, parameters, receive: receive)
        } catch {
            throw StorageFailure(error)
        }
    }

    /// Waits for all that was sent.
    func drain() throws(StorageFailure) {
        try self.sendBefore()
        do throws(PostgreSQLError) {
            try self.receive()
        } catch {
            throw StorageFailure(error)
        }
    }

    private func sendBefore() throws(StorageFailure) {
        guard let before = self.beforeSending else { return }
        self.beforeSending = nil
        defer { self.beforeSending = before }
        try before()
    }
}
