import Administration
import FileIO
import Foundation
import StorageContract

/// One backup of a data folder, also while a server serves it.
struct BackupRun {
    let source: DataFolder
    let target: BackupFolder
    private let folder: CopyFolder
    private let store: any StoreSource
    private var bar = ProgressBar()

    /// Begins a backup in a folder that is new or empty.
    ///
    /// - Throws: `CommandFailure`, before anything is written.
    init(of source: DataFolder, to target: BackupFolder, watch: CopyWatch? = nil) throws {
        try source.refuseUnlessServable()
        try source.refuseUnlessFile()
        self.source = source
        self.target = target
        do throws(StoreCopyError) {
            self.store = try EngineOpening.files.source(in: source.path)
        } catch {
            throw CopyAdvice.failure(error, in: source.path)
        }
        self.folder = try CopyFolder(making: target.path)
        guard try self.folder.contents().isEmpty else {
            throw CommandFailure(
                .data,
                "\(target.path) is not empty, and a backup overwrites nothing. Name a new folder with --to."
            )
        }
        try self.folder.narrow()
        self.bar.watch = watch
    }

    /// Copies everything.
    ///
    /// After an error the folder is as it was before.
    ///
    /// - Durability: returns after all of it is on disk.
    mutating func run() throws -> BackupManifest {
        do {
            // This fails if another backup into the folder has begun meanwhile.
            try self.folder.write("", as: "backup.unfinished")
        } catch {
            throw CopyAdvice.failure(error, in: self.target.path)
        }
        do {
            let manifest = try self.fill()
            self.bar.clear()
            return manifest
        } catch {
            self.bar.clear()
            self.folder.clear()
            throw CopyAdvice.failure(error, in: self.target.path)
        }
    }

    private mutating func fill() throws -> BackupManifest {
        let size = try self.store.size()
        let tls = try self.source.namesInTLS()
        try self.folder.checkRoom(for: size.database + size.assets)
        self.bar.totalBytes = size.database + size.assets
        var bar = self.bar
        var copying = StoreCopying(
            store: self.store,
            assets: AssetCopying(from: self.source.assetsPath, to: self.target.assetsPath)
        )
        let (copy, damaged) = try copying.copy(to: self.target.path + "/" + Self.draft, &bar)
        self.bar = bar
        let totals = try copy.assetTotals()
        try copy.close()
        var files = [try self.nameDatabase()]
        if !tls.isEmpty { try self.folder.makeSubfolder("tls") }
        for name in tls {
            let path = "tls/" + name
            let made = try self.copy(path)
            files.append(BackupManifest.File(path: path, made))
        }
        let manifest = BackupManifest(files: files, totals: totals, damaged: damaged)
        try self.finish(manifest)
        return manifest
    }

    private func copy(_ path: String) throws -> FileCopy.Outcome {
        let source = self.source.path + "/" + path
        do throws(FileCopy.Failure) {
            return try FileCopy.copy(source, to: self.target.path + "/" + path, progress: { _ in })
        } catch {
            guard case .source(let error) = error else { throw error }
            throw CommandFailure(
                .unavailable,
                "\(source) cannot be read: \(error.reason). Check who owns it."
            )
        }
    }

    private static let draft = EngineOpening.files.name + ".unfinished"

    /// Gives the copy of the database its name, after it was marked.
    private func nameDatabase() throws -> BackupManifest.File {
        let look = try FileCopy.look(at: self.target.path + "/" + Self.draft)
        try self.folder.rename(Self.draft, to: EngineOpening.files.name)
        return BackupManifest.File(path: EngineOpening.files.name, look)
    }

    private func finish(_ manifest: BackupManifest) throws {
        try self.folder.syncAll()
        try self.folder.write(JSONText.of(manifest), as: "backup.json.new")
        try self.folder.rename("backup.json.new", to: "backup.json")
        try self.folder.remove("backup.unfinished")
    }
}
