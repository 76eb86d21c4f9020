import FileIO
import Foundation
import RecordStore

/// One restore of a backup into a data folder.
///
/// The database keeps the mark of a backup until all else is on the disk. The transaction that
/// removes it also starts a new history of every database. So no server can serve the restored data
/// under the old history.
struct RestoreRun {
    private static let mark = "restore.unfinished"

    let source: BackupFolder
    let target: DataFolder
    let manifest: BackupManifest
    private let folder: CopyFolder
    private var bar = ProgressBar()

    /// Begins a restore into a folder that is new or empty, or has the remains of an interrupted
    /// restore.
    ///
    /// - Throws: `CommandFailure`, before anything is written.
    init(of source: BackupFolder, to target: DataFolder) throws {
        self.source = source
        self.target = target
        try DataFolderAccess(folder: target).check()
        try source.refuseIfShared()
        self.manifest = try BackupManifest.read(in: source)
        self.folder = try CopyFolder(making: target.path)
        try self.refuseUnlessEmpty()
        try self.folder.narrow()
    }

    /// Copies everything.
    ///
    /// After an error the folder is as it was before.
    ///
    /// - Durability: returns after all of it is on disk.
    /// - Returns: The assets that are missing or damaged in the backup.
    mutating func run() throws -> (manifest: BackupManifest, damaged: [AssetReport.Damaged]) {
        let lock = try DataFolderLock(folder: self.target)
        defer { withExtendedLifetime(lock) {} }
        return (self.manifest, try self.runLocked())
    }

    private mutating func runLocked() throws -> [AssetReport.Damaged] {
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

    private mutating func fill() throws -> [AssetReport.Damaged] {
        self.folder.clear(except: [Self.mark, "lock"])
        if try !self.folder.contents().contains(Self.mark) { try self.folder.write("", as: Self.mark) }
        try self.folder.checkRoom(for: self.manifest.bytes)
        self.bar.totalBytes = self.manifest.bytes
        for file in self.manifest.files { try self.copy(file) }
        let store = try EngineOpening.files.copy(ofBackup: EngineOpening.files.path(in: self.target.path))
        var assets = AssetCopying(from: self.source.assetsPath, to: self.target.assetsPath)
        var bar = self.bar
        let damaged = try assets.copy(namedBy: store, &bar)
        self.bar = bar
        try self.folder.syncAll()
        try store.beginNewLife(nowMilliseconds: SystemTime.milliseconds())
        try store.close()
        try self.folder.remove(Self.mark)
        return assets.report(damaged)
    }

    private mutating func copy(_ file: BackupManifest.File) throws {
        if file.path.hasPrefix("tls/") { try self.folder.makeSubfolder("tls") }
        var bar = self.bar
        let made = try FileCopy.copy(
            self.source.path + "/" + file.path,
            to: self.target.path + "/" + file.path
        ) { bar.add($0) }
        self.bar = bar
        guard BackupManifest.File(path: file.path, (made.bytes, made.sha256)) == file else {
            throw CommandFailure(
                .data,
                "\(self.source.path)/\(file.path) has changed since the backup was made. Use another backup."
            )
        }
    }
}
