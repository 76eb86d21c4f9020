import Foundation
import GRDB
import GRDBSQLite
package import StorageContract

/// The store of a folder's file that moves to another engine.
///
/// It holds the writer's lock, so no other connection can write to the file until this object is
/// closed.
package final class SQLiteMovedStore: MovedStore {
    private let path: String
    /// `nil` after it was closed.
    private var rows: FileRows?

    /// The name of a file after its store has moved.
    private static let retiredName = DatabaseFile.name + ".moved"

    /// Opens the file of a folder, which has the current format.
    ///
    /// - Throws: `SQLiteEngineError`, `StoreMoveError`.
    package init(in directory: String) throws {
        var configuration = SQLiteEngineConfiguration(directory: directory, housekeeping: nil)
        configuration.preparation = .none
        let file = try DatabaseFile(configuration: configuration)
        self.path = file.path
        // Checks the format, and whether the file is a backup.
        try file.openWriter().close()
        let rows: FileRows
        do throws(StorageFailure) {
            rows = try FileRows(file.path)
            // The locked rows are the committed ones, and they do not change.
            try rows.execute("BEGIN IMMEDIATE")
        } catch {
            let isBusy = ResultCode(rawValue: error.code).primaryResultCode == .SQLITE_BUSY
            throw isBusy ? StoreMoveError.isBusy : .storage(error)
        }
        self.rows = rows
    }

    private func opened() throws(StorageFailure) -> FileRows {
        guard let rows else { throw .unexpected(code: SQLITE_MISUSE) }
        return rows
    }

    package func rows(
        of table: StorageContract.Table,
        after key: [ColumnValue]?,
        limit: Int
    ) throws(StorageFailure) -> [[ColumnValue]] {
        try self.opened().rows(of: table, after: key, limit: limit)
    }

    package func count(of table: StorageContract.Table) throws(StorageFailure) -> Int {
        try self.opened().count(of: table)
    }

    package func lastNumbers() throws(StorageFailure) -> [String: Int64] { try self.opened().lastNumbers() }

    package func close() {
        try? self.rows?.execute("ROLLBACK")
        // Checkpoints the log and removes it.
        self.rows = nil
    }

    package func retire() throws(StoreMoveError) -> String {
        self.close()
        let retired = ((self.path as NSString).deletingLastPathComponent as NSString)
            .appendingPathComponent(Self.retiredName)
        try Self.rename(self.path, to: retired)
        // Another file of the name has another log.
        unlink(SyncedNote.path(of: self.path))
        return retired
    }

    /// Renames a file within its folder, replacing one of that name.
    ///
    /// - Durability: returns after the folder is on disk.
    static func rename(_ path: String, to new: String) throws(StoreMoveError) {
        let folder = Foundation.open(
            (path as NSString).deletingLastPathComponent,
            O_RDONLY | O_DIRECTORY | O_CLOEXEC
        )
        guard folder >= 0 else { throw .file(.ofTarget(errno)) }
        defer { Foundation.close(folder) }
        guard Foundation.rename(path, new) == 0, fsync(folder) == 0 else { throw .file(.ofTarget(errno)) }
    }
}
