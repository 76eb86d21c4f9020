import FileIO
import Foundation
import RecordStore

/// One backup of a data folder, also while a server serves it.
struct BackupRun {
    /// Bound on the copies of the database.
    ///
    /// It is copied again if the server has meanwhile removed files that it names.
    private static let copiesMax = 3

    let source: DataFolder
    let target: BackupFolder
    private let folder: CopyFolder
    private let store: any StoreSource
    private var bar = ProgressBar()

    /// Begins a backup in a folder that is new or empty.
    ///
    /// - Throws: `CommandFailure`, before anything is written.
    init(of source: DataFolder, to target: BackupFolder) throws {
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
        let tls = try self.namesInTLS()
        try self.folder.checkRoom(for: size.database + size.assets)
        self.bar.totalBytes = size.database + size.assets
        var assets = AssetCopying(from: self.source.assetsPath, to: self.target.assetsPath)
        let (copy, damaged) = try self.copyStore(&assets)
        let totals = try copy.assetTotals()
        try copy.close()
        var files = [try self.nameDatabase()]
        if !tls.isEmpty { try self.folder.makeSubfolder("tls") }
        for name in tls {
            let path = "tls/" + name
            let made = try FileCopy.copy(
                self.source.path + "/" + path,
                to: self.target.path + "/" + path,
                progress: { _ in }
            )
            files.append(BackupManifest.File(path: path, (made.bytes, made.sha256)))
        }
        let damagedBytes = damaged.reduce(0) { $0 + $1.size }
        let manifest = BackupManifest(
            date: Date().ISO8601Format(),
            server: Tidemark.version,
            files: files,
            assets: totals.assets - damaged.count,
            assetBytes: totals.bytes - damagedBytes,
            damaged: damaged
        )
        try self.finish(manifest)
        return manifest
    }

    /// Copies the database, and then the files of the assets that it names.
    ///
    /// A server removes assets a day or more after their last record. If it removes some before
    /// they are copied, the database is copied again, and then only the new assets.
    private mutating func copyStore(
        _ assets: inout AssetCopying
    ) throws -> (any StoreCopy, [AssetReport.Damaged]) {
        let path = self.target.path + "/" + Self.draft
        var copies = 1
        while true {
            var bar = self.bar
            let copy = try self.store.copy(to: path) { bar.add($0) }
            let damaged = try assets.copy(namedBy: copy, &bar)
            self.bar = bar
            let isCurrent = try damaged.allSatisfy { try self.store.has($0.stored.number) }
            if isCurrent || copies == Self.copiesMax {
                if copies > 1 { try assets.removeFiles(notIn: copy) }
                return (copy, assets.report(damaged))
            }
            try copy.close()
            copies += 1
        }
    }

    private static let draft = EngineOpening.files.name + ".unfinished"

    /// Gives the copy of the database its name, after it was marked.
    private func nameDatabase() throws -> BackupManifest.File {
        let look = try FileCopy.look(at: self.target.path + "/" + Self.draft)
        try self.folder.rename(Self.draft, to: EngineOpening.files.name)
        return BackupManifest.File(path: EngineOpening.files.name, (look.bytes, look.sha256))
    }

    private func finish(_ manifest: BackupManifest) throws {
        try self.folder.syncAll()
        try self.folder.write(JSONText.of(manifest), as: "backup.json.new")
        try self.folder.rename("backup.json.new", to: "backup.json")
        try self.folder.remove("backup.unfinished")
    }

    /// The names of certificate files; empty if the certificates are the operator's.
    private func namesInTLS() throws -> [String] {
        let path = self.source.path + "/tls"
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    }
}
