import GRDB
import GRDBSQLite
import StorageContract

/// A connection that reads declared tables, for one caller at a time.
///
/// Other reads have connections of their own, so that no sign-in waits for a long query.
///
/// SAFETY: the statements are used within calls of the queue alone, which is serial.
final class TableConnection: RowReader, @unchecked Sendable {
    private let queue: DatabaseQueue
    private let begin, commit: HotStatement
    let tables: TableStatements
    let indexes: IndexSearch

    init(queue: DatabaseQueue) throws {
        // SAFETY: the queue keeps the connection open as long as it lives.
        nonisolated(unsafe) let connection = queue.inDatabase { $0.sqliteConnection! }
        self.queue = queue
        self.begin = try HotStatement("BEGIN", on: connection)
        self.commit = try HotStatement("COMMIT", on: connection)
        self.tables = TableStatements(connection: connection)
        self.indexes = try IndexSearch(connection)
    }

    /// Reads within one snapshot.
    func read<Value>(_ read: (any IndexReader) throws -> Value) throws -> Value {
        try self.queue.inDatabase { _ in
            try self.begin.run()
            do {
                let value = try read(self)
                try self.commit.run()
                return value
            } catch {
                // Ends the snapshot if it is still open; the first failure is the one to report.
                try? self.commit.run()
                throw error
            }
        }
    }

    func types(
        named names: [String],
        in environment: EnvironmentID
    ) throws(StorageFailure) -> [StoredType?] {
        try StoredType.types(named: names, in: environment, from: self)
    }
}
