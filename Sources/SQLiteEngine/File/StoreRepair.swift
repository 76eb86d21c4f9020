import Foundation
import GRDB
package import StorageContract

/// Lets a store be served that lacks commits which were acknowledged.
///
/// No other process may have the store open.
package struct StoreRepair {
    /// The loss; `nil` if the store lacks nothing.
    package let loss: LogLoss?
    private let path: String

    /// Looks at the store of a folder, and changes nothing unless its log is in order.
    ///
    /// - Throws: `isMissing`, `isDamaged`, `formatUnreleased`, `failed`.
    package init(in directory: String) throws(StoreCopyError) {
        self.path = StoreFile.path(in: directory)
        guard DatabaseFile.bytes(at: self.path) > 0 else { throw .isMissing }
        if let loss = try LogCheck(of: self.path).loss {
            self.loss = loss
            return
        }
        guard let synced = SyncedNote.records(of: self.path).synced else {
            self.loss = nil
            return
        }
        let store = try StoreFile(in: directory)
        self.loss =
            try store.read { try synced.isNewer(than: $0) }
            ? LogLoss(.databaseOlder, path: self.path, milliseconds: synced.milliseconds) : nil
    }

    /// Empties a log; the file has everything in it.
    ///
    /// - Durability: returns after it is on disk.
    package func dropLog() throws(StoreCopyError) {
        let log = open(self.path + "-wal", O_WRONLY | O_CLOEXEC)
        guard log >= 0 else {
            guard errno == ENOENT else { throw .failed(code: 0) }
            return
        }
        defer { close(log) }
        guard ftruncate(log, 0) == 0, fsync(log) == 0 else { throw .ofTarget(errno) }
    }

    /// Goes on with what is there, as a new life of every database: the same as a restore of it.
    ///
    /// Interrupted, it can be repeated.
    ///
    /// - Durability: returns after everything is on disk.
    /// - Throws: `isDamaged` if the rest does not fit together; then only a backup helps.
    package func acceptLoss(nowMilliseconds now: Int64) throws(StoreCopyError) {
        guard let loss else { return }
        if LogCheck.isBehindFile(loss, self.path) { try self.dropLog() }
        let store = try DatabaseCopy(ofStore: self.path)
        try store.beginNewLife(nowMilliseconds: now)
        try store.close()
        let note = SyncedNote.path(of: self.path)
        let folder = open(
            (self.path as NSString).deletingLastPathComponent,
            O_RDONLY | O_DIRECTORY | O_CLOEXEC
        )
        guard folder >= 0 else { throw .failed(code: 0) }
        defer { close(folder) }
        guard unlink(note) == 0 || errno == ENOENT, fsync(folder) == 0 else { throw .ofTarget(errno) }
    }
}
