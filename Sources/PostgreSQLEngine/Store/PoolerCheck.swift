import StorageContract

/// Detects a pooler that assigns a connection another server session with each transaction.
///
/// Prepared statements and settings belong to a session: through such a pooler, statements would
/// fail randomly, or use those of another connection.
struct PoolerCheck {
    let target: ConnectionTarget

    private static let session = SQL("SELECT pg_backend_pid()", reach: .store)

    /// - Throws: `poolsTransactions`.
    func refusePooler(of connection: PostgreSQLConnection) throws(PostgreSQLEngineError) {
        do throws(PostgreSQLError) {
            let session = try connection.query(Self.session).integer(0, 0)
            // A pooler makes up the number that it reports to its client.
            guard session != connection.sessionNumber, try self.shares(session) else { return }
        } catch {
            // Another connection has prepared a statement of that name in a session that should be
            // ours.
            guard error.state == .duplicateStatement || error.state == .unknownStatement else {
                throw PostgreSQLEngineError(error, self.target)
            }
        }
        throw .poolsTransactions(target: self.target.text)
    }

    /// Whether a second connection gets a session that the first one still has.
    private func shares(_ session: Int64) throws(PostgreSQLError) -> Bool {
        let other = try PostgreSQLConnection(self.target)
        try other.send(TransactionSQL.begin)
        return try other.query(Self.session).integer(0, 0) == session
    }
}
