package import StorageContract

/// The tables that a move fills in a database.
///
/// They have no row of a store until they are complete, so every engine refuses them.
package final class PostgreSQLFilledStore: FilledStore {
    private let connection: PostgreSQLConnection
    private let tables: TableMove
    private let identity: [UInt8]

    /// Creates the tables for a store with an identity, or takes over those that an interrupted
    /// move of it has left.
    ///
    /// Server and database were checked before (`PostgreSQLEngine.check`).
    ///
    /// - Throws: `PostgreSQLEngineError`, `StoreMoveError`.
    package init(_ target: ConnectionTarget, identity: [UInt8]) throws {
        self.identity = identity
        do throws(PostgreSQLError) {
            self.connection = try PostgreSQLConnection(target)
            self.tables = TableMove(self.connection)
            if let found = try Self.mark(self.connection) {
                guard found == identity else { throw PostgreSQLError(.refused(.duplicateTable), "") }
                return
            }
            guard try self.connection.query(MoveSQL.hasSchema).integer(0, 0) == 0 else {
                throw PostgreSQLError(.refused(.duplicateSchema), "")
            }
            try Self.makeTables(self.connection, identity)
        } catch {
            switch error.state {
            case .duplicateTable?: throw StoreMoveError.isOfAnotherMove
            case .duplicateSchema?: throw StoreMoveError.isNotEmpty
            default: throw PostgreSQLEngineError(error, target)
            }
        }
    }

    /// The identity of the store that a move is filling; `nil` if there is none.
    private static func mark(_ connection: PostgreSQLConnection) throws(PostgreSQLError) -> [UInt8]? {
        guard try connection.query(MoveSQL.hasMark).integer(0, 0) != 0 else { return nil }
        let rows = try connection.query(MoveSQL.readMark)
        return rows.isEmpty ? [] : rows.bytes(0, 0)
    }

    /// Creates all tables without their indexes, which are built after the rows were added.
    private static func makeTables(
        _ connection: PostgreSQLConnection,
        _ identity: [UInt8]
    ) throws(PostgreSQLError) {
        try connection.send(TransactionSQL.begin)
        for statement in StoreTables.definition where !statement.isIndex { try connection.send(statement) }
        try connection.send(SQL(MoveSQL.makeMark, reach: .store))
        try connection.send(MoveSQL.mark, [.bytes(identity)])
        try connection.send(TransactionSQL.commit)
        try connection.receive()
    }

    /// Removes only the tables that an interrupted move of a store has left.
    package static func discard(
        _ target: ConnectionTarget,
        identity: [UInt8]
    ) throws(PostgreSQLEngineError) {
        do throws(PostgreSQLError) {
            let connection = try PostgreSQLConnection(target)
            guard try self.mark(connection) == identity else { return }
            _ = try connection.query(MoveSQL.dropSchema)
        } catch {
            throw PostgreSQLEngineError(error, target)
        }
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

    package func lastKey(of table: Table) throws(StorageFailure) -> [ColumnValue]? {
        try self.tables.lastKey(of: table)
    }

    package func add(_ rows: [[ColumnValue]], to table: Table) throws(StorageFailure) {
        try self.tables.add(rows, to: table)
    }

    package func complete(
        lastNumbers: [String: Int64],
        nowMilliseconds now: Int64
    ) throws(StoreMoveError) {
        do throws(PostgreSQLError) {
            let connection = self.connection
            try connection.send(TransactionSQL.begin)
            for statement in StoreTables.definition where statement.isIndex { try connection.send(statement) }
            for table in Table.all where table.numbering != .none {
                let stored = try connection.query(MoveSQL.lastNumber(of: table)).integer(0, 0)
                let last = max(stored, lastNumbers[table.name] ?? 0)
                try connection.send(MoveSQL.setCounter, [.text(table.name), .integer(last)])
            }
            try connection.send(StoreTables.storeRow, [.bytes(self.identity)])
            try connection.send(MoveSQL.setNumbers, [.integer(lastNumbers[MovedNumbers.index] ?? 0)])
            try NewEpoch.begin(nowMilliseconds: now, on: connection)
            try connection.send(MoveSQL.dropMark)
            try connection.send(TransactionSQL.commit)
            try connection.receive()
        } catch {
            _ = try? self.connection.query(TransactionSQL.rollback)
            throw .storage(StorageFailure(error))
        }
    }

    package func close() {}
}

extension SQL {
    /// Whether the statement creates an index.
    fileprivate var isIndex: Bool {
        self.text.hasPrefix("CREATE INDEX") || self.text.hasPrefix("CREATE UNIQUE INDEX")
    }
}
