import RecordStore

/// Statements of jobs, which fail as jobs do.
///
/// While a first question is set (`FirstQuestion`), these end the job in place of waiting, or have the
/// answer already.
extension PostgreSQLConnection {
    /// Sends a statement, and waits for it and all before it.
    func rows(_ sql: SQL, _ parameters: [SQLValue] = []) throws(StorageFailure) -> ResultRows {
        try self.sendBefore()
        if let answer = try self.question?.answer(to: sql, parameters, on: self) { return answer }
        do throws(PostgreSQLError) {
            return try self.query(sql, parameters)
        } catch {
            throw StorageFailure(error)
        }
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
        try self.question?.wait()
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
