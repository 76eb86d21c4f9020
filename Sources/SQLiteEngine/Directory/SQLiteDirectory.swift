import Foundation
import GRDB
import RecordModel
import RecordStore

/// The directory in the tables `container`, `environment`, `user` and `database`.
///
/// Reads go to a connection of their own, and nothing is kept in memory: the command line changes the same
/// tables from another process.
struct SQLiteDirectory: Directory {
    let writer: WriteQueue
    let reader: DatabaseQueue
    let clock: @Sendable () -> Int64

    func createContainer(_ identifier: String) throws(DirectoryError) {
        guard NameRules.isContainerID(identifier) else { throw .containerNameInvalid }
        try self.write { transaction, database in
            let now = transaction.nowMilliseconds
            try database.execute(
                sql: "INSERT OR IGNORE INTO container (identifier, created_ms) VALUES (?, ?)",
                arguments: [identifier, now]
            )
            guard database.changesCount == 1 else { throw DirectoryError.containerExists }
            let container = database.lastInsertedRowID
            for environment in Environment.allCases {
                try database.execute(
                    sql: "INSERT INTO environment (container, kind) VALUES (?, ?)",
                    arguments: [container, Int64(environment.rawValue)]
                )
                let number = EnvironmentID(rawValue: database.lastInsertedRowID)
                try DatabaseRows.create(
                    scope: .public,
                    owner: 0,
                    in: number,
                    nowMilliseconds: now,
                    database
                )
            }
        }
    }

    func containers() throws(DirectoryError) -> [String] {
        try self.read { database in
            // A deleted one has no name, and keeps its number.
            try String.fetchAll(
                database,
                sql: "SELECT identifier FROM container WHERE identifier NOT LIKE '-%' ORDER BY identifier"
            )
        }
    }

    func addUser(
        named name: String,
        userRecordName: String,
        tokenHash: [UInt8],
        toContainer container: String
    ) throws(DirectoryError) {
        guard NameRules.isItemName(name), NameRules.isUserRecordName(userRecordName) else {
            throw .userNameInvalid
        }
        try self.write { transaction, database in
            let container = try Self.number(ofContainer: container, database)
            try database.execute(
                sql: """
                    INSERT OR IGNORE INTO user (container, name, record_name, created_ms, token_hash)
                    VALUES (?, ?, ?, ?, ?)
                    """,
                arguments: [container, name, userRecordName, transaction.nowMilliseconds, Data(tokenHash)]
            )
            guard database.changesCount == 1 else { throw DirectoryError.userExists }
        }
    }

    func secret(named name: String, orStoring candidate: [UInt8]) throws(DirectoryError) -> [UInt8] {
        if let secret = try self.storedSecret(name) { return secret }
        try self.write { _, database in
            try database.execute(
                sql: "INSERT OR IGNORE INTO secret (name, bytes) VALUES (?, ?)",
                arguments: [name, Data(candidate)]
            )
        }
        guard let secret = try self.storedSecret(name) else { throw .unavailable }
        return secret
    }

    private func storedSecret(_ name: String) throws(DirectoryError) -> [UInt8]? {
        try self.read {
            try Data.fetchOne($0, sql: "SELECT bytes FROM secret WHERE name = ?", arguments: [name])
                .map { Array($0) }
        }
    }

    static func number(ofContainer identifier: String, _ database: Database) throws -> Int64 {
        let number = try Int64.fetchOne(
            database,
            sql: "SELECT number FROM container WHERE identifier = ?",
            arguments: [identifier]
        )
        guard let number else { throw DirectoryError.containerMissing }
        return number
    }

    func read<Value>(_ read: (Database) throws -> Value) throws(DirectoryError) -> Value {
        do {
            return try self.reader.inDatabase(read)
        } catch let error as DirectoryError {
            throw error
        } catch {
            throw .unavailable
        }
    }

    /// Runs in a transaction of the writer and waits until it is on disk.
    func write(
        _ work: @escaping @Sendable (WriterTransaction, Database) throws -> Void
    ) throws(DirectoryError) {
        let outcome = Rendezvous<(any Error)?>()
        let job = WriteQueue.Administration(work: work) { error in outcome.fill(error) }
        guard case .admitted = self.writer.add(job) else { throw .unavailable }
        guard let error = outcome.wait() else { return }
        throw error as? DirectoryError ?? .unavailable
    }
}
