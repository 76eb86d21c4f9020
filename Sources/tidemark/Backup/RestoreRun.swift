import Administration
import Foundation
import StorageContract

/// One restore of a backup into a data folder.
///
/// The database keeps the mark of a backup until all else is on the disk. The transaction that
/// removes it also starts a new history of every database. So no server can serve the restored data
/// under the old history.
struct RestoreRun {
    private static let mark = "restore.unfinished"

    let target: DataFolder
    private var source: any RestoreSource
    private let folder: CopyFolder
    private var bar = ProgressBar()

    /// Begins a restore into a folder that is new or empty, or has the remains of an interrupted
    /// restore.
    ///
    /// The source is opened once it is known that the folder is this user's.
    ///
    /// - Throws: `CommandFailure`, before anything is written.
    init(of source: @autoclosure () throws -> any RestoreSource, to target: DataFolder) throws {
        try DataFolderAccess(folder: target).check()
        self.source = try source()
        self.target = target
        self.folder = try CopyFolder(making: target.path)
        try self.refuseUnlessEmpty()
        try self.folder.narrow()
    }

    /// Copies everything.
    ///
    /// After an error the folder is as it was before.
    ///
    /// - Durability: returns after all of it is on disk.
    mutating func run() throws -> RestoreOutcome {
        let lock = try DataFolderLock(folder: self.target)
        defer { withExtendedLifetime(lock) {} }
        return try self.runLocked()
    }

    private mutating func runLocked() throws -> RestoreOutcome {
        try self.refuseUnlessEmpty()
        defer { self.bar.clear() }
        do {
            return try self.fill()
        } catch {
            // The mark goes last, so that no server serves the remains if this is interrupted.
            self.folder.clear(except: [Self.mark])
            self.folder.clear()
            throw CopyAdvice.failure(error, in: self.target.path)
        }
    }

    private func refuseUnlessEmpty() throws(CommandFailure) {
        let contents = try self.folder.contents().filter { $0 != "lock" }
        guard contents.isEmpty || contents.contains(Self.mark) else {
            throw CommandFailure(
                .data,
                "\(self.target.path) is not empty, and a restore overwrites nothing. Name a new folder with --data, or move "
                    + "this one away when no server serves it."
            )
        }
    }

    private mutating func fill() throws -> RestoreOutcome {
        self.folder.clear(except: [Self.mark, "lock"])
        if try !self.folder.contents().contains(Self.mark) { try self.folder.write("", as: Self.mark) }
        try self.folder.checkRoom(for: self.source.bytes)
        self.bar.totalBytes = self.source.bytes
        let filled = try self.source.fill(self.target, &self.bar)
        let assets = try filled.store.assetTotals().assets - filled.damaged.count
        try self.folder.syncAll()
        try filled.store.beginNewLife(nowMilliseconds: SystemTime.milliseconds())
        try filled.store.close()
        try self.folder.remove(Self.mark)
        return RestoreOutcome(summary: self.source.summary, assets: assets, damaged: filled.damaged)
    }
}

/// The result of a restore.
struct RestoreOutcome {
    var summary: BackupSummary
    var assets: Int
    /// The assets that are missing or damaged in the backup.
    var damaged: [AssetReport.Damaged]
}
