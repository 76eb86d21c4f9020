import RecordStore

/// The first statement for which a job waits, sent together with those of other jobs.
///
/// Nobody knows a job's statements before it is executed. So it begins twice. The first time it ends where
/// it would wait, and that statement is sent. The second time the statement has its answer. The job waits
/// for the answers to its other questions.
final class FirstQuestion {
    private enum State {
        /// The job has not come so far.
        case open
        /// The job has ended where it would wait.
        case asked
        /// The job has begun again, after all answers had come.
        case goingOn
    }

    private var state = State.open
    private var sql: SQL?
    private var parameters: [SQLValue] = []
    private var rows: ResultRows?

    /// Whether the job came to a question, and has to begin again.
    var isAsked: Bool { self.state != .open }

    /// Sends the statement and ends the job, or has the answer; `nil` if the job is to wait.
    ///
    /// - Throws: `conflict` for a job that ends.
    func answer(
        to sql: SQL,
        _ parameters: [SQLValue],
        on connection: PostgreSQLConnection
    ) throws(StorageFailure) -> ResultRows? {
        if self.state == .open {
            self.state = .asked
            (self.sql, self.parameters) = (sql, parameters)
            try connection.write(sql, parameters) { self.rows = $0 }
        }
        try self.wait()
        // With the answers a remembered value may be gone, and then the job asks another question.
        return sql == self.sql && parameters == self.parameters ? self.rows : nil
    }

    /// Ends a job that would wait for what was sent before.
    ///
    /// - Throws: `conflict` for a job that ends.
    func wait() throws(StorageFailure) {
        guard self.state != .goingOn else { return }
        self.state = .asked
        throw .conflict
    }

    /// The answers have come: the job begins again.
    func goOn() { self.state = .goingOn }
}
