import Foundation
import GRDB
import RecordModel
package import StorageContract

/// A copy of a store's file that no server uses: in a backup, or in a folder that is being
/// restored.
///
/// It has the current format and is one file. Every engine refuses its mark, until `beginNewLife`
/// removes it.
package final class DatabaseCopy: StoreCopy {
    private let database: DatabaseQueue

    /// Marks a copied file as a backup.
    init(marking path: String) throws(StoreCopyError) {
        self.database = try Self.open(path)
        try self.write { try BackupMark.set(true, $0) }
    }

    /// Opens the file of a backup, and migrates it to the current format.
    ///
    /// - Throws: `isNoBackup`, `formatTooNew`.
    package init(ofBackup path: String) throws(StoreCopyError) {
        self.database = try Self.open(path) { database in
            guard try BackupMark.isOn(database) else { throw StoreCopyError.isNoBackup }
        }
    }

    /// Opens the file of a store that no process serves, with the rest of its log.
    ///
    /// - Throws: `isBackup`, `isDamaged` if tables and indexes do not fit together.
    init(ofStore path: String) throws(StoreCopyError) {
        self.database = try Self.open(path) { database in
            guard try !BackupMark.isOn(database) else { throw StoreCopyError.isBackup }
        }
        let lines = try self.read { try String.fetchAll($0, sql: "PRAGMA integrity_check(1)") }
        guard lines == ["ok"] else { throw .isDamaged(code: ResultCode.SQLITE_CORRUPT.rawValue) }
    }

    private static func open(
        _ path: String,
        check: (Database) throws -> Void = { _ in }
    ) throws(StoreCopyError) -> DatabaseQueue {
        try StoreCopyError.wrapping {
            var configuration = SQLiteProcess.configuration("tidemark.copy")
            configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = FULL") }
            let queue = try SQLiteProcess.open(path, configuration)
            let format = try queue.inDatabase { database in
                try check(database)
                _ = try String.fetchOne(database, sql: "PRAGMA journal_mode = DELETE")
                return try Migrations.format(of: database)
            }
            guard format <= Migrations.formatKnown else {
                throw StoreCopyError.formatTooNew(found: format, known: Migrations.formatKnown)
            }
            try Migrations.migrator.migrate(queue)
            return queue
        }
    }

    static func removeFiles(at path: String) throws {
        for ending in ["", "-journal", "-wal", "-shm"] where unlink(path + ending) != 0 && errno != ENOENT {
            throw CocoaError(.fileWriteUnknown)
        }
    }

    // MARK: Assets

    /// Complete assets in the order of their numbers.
    package func assets(after number: AssetNumber?, limit: Int) throws(StoreCopyError) -> [StoredAsset] {
        try self.read { try TableStatements($0).storedAssets(after: number, limit: limit) }
    }

    /// Whether it has the complete asset.
    package func has(_ number: AssetNumber) throws(StoreCopyError) -> Bool {
        try self.read { try TableStatements($0).isStored(number) }
    }

    /// The number of complete assets, and their bytes.
    package func assetTotals() throws(StoreCopyError) -> (assets: Int, bytes: Int64) {
        try self.read { database in
            let row = try Row.fetchOne(database, sql: "SELECT count(*), sum(size) FROM asset WHERE state = 1")
            return (row?[0] ?? 0, row?[1] ?? 0)
        }
    }

    /// Lets the next server forget an asset that has no file, unless a record references it.
    ///
    /// Returns whether the asset is unreferenced.
    package func forgetUnnamed(_ number: AssetNumber) throws(StoreCopyError) -> Bool {
        try self.write { try TableStatements($0).forgetLostAsset(number) }
    }

    // MARK: Restoring

    /// Lets the file be served, as a new life of every database: the end of a restore.
    ///
    /// One transaction gives each database an epoch that no earlier token has, and a position that
    /// no earlier change tag has (`DatabaseEpoch`). Each subscription has changes for every
    /// listener, whatever the listener acknowledged before the restore. Results of requests are
    /// kept, since the file has their changes.
    ///
    /// - Durability: returns after everything is on disk, or throws and nothing is.
    package func beginNewLife(nowMilliseconds now: Int64) throws(StoreCopyError) {
        try self.write { database in
            try database.execute(
                sql: "UPDATE database SET epoch = ?, position = max(position + 1, ?)",
                arguments: [
                    DatabaseEpoch.fresh(nowMilliseconds: now),
                    DatabaseEpoch.firstPosition(nowMilliseconds: now),
                ]
            )
            try database.execute(
                sql: """
                    UPDATE database SET row_bytes = row_bytes - counted.bytes FROM (
                        SELECT database AS number, count(*) * \(RowBytes.SQL.cursor) AS bytes FROM listener_cursor
                        JOIN subscription ON subscription.number = listener_cursor.subscription GROUP BY database
                    ) AS counted WHERE database.number = counted.number
                    """
            )
            try database.execute(sql: "DELETE FROM listener_cursor")
            // Installations have seen changes that are lost, and must fetch everything again.
            try database.execute(sql: "DELETE FROM installation_seen")
            // Backups have no files of uploads: participants must send their completed uploads
            // again.
            try database.execute(
                sql: "DELETE FROM asset_user WHERE asset IN (SELECT number FROM asset WHERE state = 0)"
            )
            try database.execute(sql: "UPDATE subscription SET created_position = -1")
            try BackupMark.set(false, database)
        }
    }

    package func close() throws(StoreCopyError) {
        try StoreCopyError.wrapping { try self.database.close() }
    }

    func read<Value>(_ read: (Database) throws -> Value) throws(StoreCopyError) -> Value {
        try StoreCopyError.wrapping { try self.database.inDatabase(read) }
    }

    private func write<Value>(_ write: (Database) throws -> Value) throws(StoreCopyError) -> Value {
        try StoreCopyError.wrapping {
            try self.database.write(write)
        }
    }
}

extension TableStatements {
    /// Statements for rare use, valid while the connection is open.
    convenience init(_ database: Database) throws(StorageFailure) {
        guard let connection = database.sqliteConnection else { throw .unexpected(code: 0) }
        self.init(connection: connection)
    }
}
