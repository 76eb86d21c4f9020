import Foundation
import GRDB
package import StorageContract

/// The file that a move creates in a folder.
///
/// It has another name until it is complete, and the mark of a backup, which every engine refuses.
package final class SQLiteFilledStore: FilledStore {
    private let folder: String
    /// `nil` after it was closed.
    private var rows: FileRows?

    private static let draftName = DatabaseFile.name + ".unfinished"

    private var path: String { self.folder + "/" + Self.draftName }

    /// Creates the file, or opens one that an interrupted move has left.
    package init(in directory: String) throws(StoreMoveError) {
        self.folder = directory
        do {
            let path = directory + "/" + Self.draftName
            try Self.makeTables(path)
            let rows = try FileRows(path)
            // Commits survive a crash of the process and of the machine, without a sync for each.
            try rows.execute("PRAGMA synchronous = NORMAL")
            try rows.execute("PRAGMA cache_size = -65536")
            self.rows = rows
        } catch let failure as StorageFailure {
            throw .storage(failure)
        } catch {
            throw .storage(StorageFailure(error))
        }
    }

    private static func makeTables(_ path: String) throws {
        var configuration = SQLiteProcess.configuration("tidemark.move")
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA page_size = \(DatabaseFile.pageBytes)")
        }
        let queue = try SQLiteProcess.open(path, configuration)
        _ = try queue.inDatabase { try String.fetchOne($0, sql: "PRAGMA journal_mode = WAL") }
        try Migrations.migrator.migrate(queue)
        try queue.write { try BackupMark.set(true, $0) }
        try queue.close()
    }

    /// Removes the files that an interrupted move has left in a folder.
    package static func discard(in directory: String) throws(StoreMoveError) {
        do {
            try DatabaseCopy.removeFiles(at: directory + "/" + self.draftName)
        } catch {
            throw .file(.ofTarget(errno))
        }
    }

    private func opened() throws(StorageFailure) -> FileRows {
        guard let rows else { throw .unexpected(code: 0) }
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

    package func lastKey(of table: StorageContract.Table) throws(StorageFailure) -> [ColumnValue]? {
        try self.opened().lastKey(of: table)
    }

    package func add(_ rows: [[ColumnValue]], to table: StorageContract.Table) throws(StorageFailure) {
        try self.transaction { (file) throws(StorageFailure) in try file.add(rows, to: table) }
    }

    private func transaction(
        _ write: (FileRows) throws(StorageFailure) -> Void
    ) throws(StorageFailure) {
        let rows = try self.opened()
        try rows.execute("BEGIN IMMEDIATE")
        do throws(StorageFailure) {
            try write(rows)
            try rows.execute("COMMIT")
        } catch {
            // SQLite may have rolled the transaction back itself.
            try? rows.execute("ROLLBACK")
            throw error
        }
    }

    package func complete(
        lastNumbers: [String: Int64],
        nowMilliseconds now: Int64
    ) throws(StoreMoveError) {
        do throws(StorageFailure) {
            try self.transaction { (file) throws(StorageFailure) in try file.set(lastNumbers) }
        } catch {
            throw .storage(error)
        }
        self.close()
        do throws(StoreCopyError) {
            let copy = try DatabaseCopy(ofBackup: self.path)
            try copy.beginNewLife(nowMilliseconds: now)
            try copy.close()
        } catch {
            throw .file(error)
        }
        // An earlier file of the name had another log.
        unlink(SyncedNote.path(of: self.folder + "/" + DatabaseFile.name))
        try SQLiteMovedStore.rename(self.path, to: self.folder + "/" + DatabaseFile.name)
    }

    package func close() { self.rows = nil }
}
