package import StorageContract

/// The store of a database that moves to another engine.
///
/// One transaction reads everything, and locks the tables against writers until it ends. A server
/// that starts meanwhile waits until its timeout.
package final class PostgreSQLMovedStore: MovedStore {
    private let target: ConnectionTarget
    private let connection: PostgreSQLConnection
    private let tables: TableMove
    package let identity: [UInt8]

    /// - Throws: `PostgreSQLEngineError`, `StoreMoveError`.
    package init(_ target: ConnectionTarget) throws {
        self.target = target
        self.identity = try StoreOpening(target: target).prepare(makesTables: false)
        let running: ResultRows
        do throws(PostgreSQLError) {
            self.connection = try PostgreSQLConnection(target)
            running = try Self.lock(self.connection)
        } catch {
            if error.state == .lockNotAvailable { throw StoreMoveError.isBusy }
            throw PostgreSQLEngineError(error, target)
        }
        self.tables = TableMove(self.connection)
        guard running.isEmpty else {
            let seconds = Int(NodeRegistration.runningMilliseconds / 1_000)
            throw StoreMoveError.isServed(node: running.text(0, 0), secondsLeft: seconds)
        }
    }

    /// Returns a server that runs, or has run within the last half minute.
    private static func lock(_ connection: PostgreSQLConnection) throws(PostgreSQLError) -> ResultRows {
        _ = try connection.query(MoveSQL.waitsForever)
        _ = try connection.query(MoveSQL.beginAlone)
        // The first statement that reads takes the snapshot, after the lock.
        _ = try connection.query(MoveSQL.lockAll)
        return try connection.query(
            NodeRegistration.running,
            [.integer(NodeRegistration.runningMilliseconds)]
        )
    }

    package func rows(
        of table: Table,
        after key: [ColumnValue]?,
        limit: Int
    ) throws(StorageFailure) -> [[ColumnValue]] {
        try self.tables.rows(of: table, after: key, limit: limit)
    }

    package func count(of table: Table) throws(StorageFailure) -> Int { try self.tables.count(of: table) }

    package func lastNumbers() throws(StorageFailure) -> [String: Int64] { try self.tables.lastNumbers() }

    package func close() { _ = try? self.connection.query(TransactionSQL.rollback) }

    package func retire() throws(StoreMoveError) -> String {
        do throws(PostgreSQLError) {
            let time = try self.connection.query(MoveSQL.time).text(0, 0)
            let name = "tidemark_moved_\(time)"
            try self.connection.send(MoveSQL.retire(as: name))
            try self.connection.send(TransactionSQL.commit)
            try self.connection.receive()
            return "schema \(name) of \(self.target.text)"
        } catch {
            throw .storage(StorageFailure(error))
        }
    }
}
