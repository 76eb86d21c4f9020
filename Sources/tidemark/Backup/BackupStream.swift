import Administration
import FileIO
import Foundation
import StorageContract

/// One backup of a data folder as an archive on a pipe, also while a server serves it.
///
/// The database is copied to a scratch folder first, so that the server's log is not kept for as
/// long as a slow network takes. Assets are sent from where they are.
struct BackupStream {
    let source: DataFolder
    /// The temporary folder is made in it.
    let scratch: String
    private let store: any StoreSource
    private var bar = ProgressBar()

    /// - Throws: `CommandFailure`, before anything is written.
    init(of source: DataFolder, scratch: String) throws {
        try source.refuseUnlessServable()
        try source.refuseUnlessFile()
        self.source = source
        self.scratch = scratch
        do throws(StoreCopyError) {
            self.store = try EngineOpening.files.source(in: source.path)
        } catch {
            throw CopyAdvice.failure(error, in: source.path)
        }
    }

    /// Sends everything.
    ///
    /// After an error the archive lacks its end, and no restore takes it.
    mutating func run(to descriptor: Int32) throws -> BackupManifest {
        // A reader that has ended is an error of the write.
        signal(SIGPIPE, SIG_IGN)
        let folder = try ScratchFolder(in: self.scratch, called: "backup", for: "a copy of the database")
        defer {
            self.bar.clear()
            folder.remove()
        }
        do {
            return try self.send(to: descriptor, folder)
        } catch let broken as BackupArchive.Broken {
            throw Self.failure(broken.error)
        } catch {
            throw CopyAdvice.failure(error, in: folder.path)
        }
    }

    private mutating func send(to descriptor: Int32, _ folder: ScratchFolder) throws -> BackupManifest {
        let now = Date()
        let size = try self.store.size()
        let tls = try self.source.namesInTLS()
        try CopyFolder(making: folder.path).checkRoom(for: size.database)
        let head = StreamHead(
            date: now.ISO8601Format(),
            server: Tidemark.version,
            bytes: size.database + size.assets
        )
        let archive = try BackupArchive(descriptor: descriptor, scratch: folder, modified: now)
        try archive.add(JSONText.of(head), as: BackupArchive.headName)
        // The database is written, and then read.
        self.bar.totalBytes = 2 * size.database + size.assets
        let database = folder.path + "/" + EngineOpening.files.name
        var bar = self.bar
        var copying = StoreCopying(
            store: self.store,
            assets: AssetCopying(from: self.source.assetsPath, into: archive)
        )
        let (copy, damaged) = try copying.copy(to: database, &bar)
        let totals = try copy.assetTotals()
        try copy.close()
        let made = try archive.add(fileAt: database, as: EngineOpening.files.name) { bar.add($0) }
        self.bar = bar
        var files = [BackupManifest.File(path: EngineOpening.files.name, made)]
        for name in tls {
            let path = "tls/" + name
            let made = try archive.add(fileAt: self.source.path + "/" + path, as: path) { _ in }
            files.append(BackupManifest.File(path: path, made))
        }
        var manifest = BackupManifest(files: files, totals: totals, damaged: damaged)
        manifest.unused = archive.unused
        try archive.add(JSONText.of(manifest), as: BackupArchive.manifestName)
        try archive.finish()
        return manifest
    }

    private static func failure(_ error: FileError) -> CommandFailure {
        guard error.errno == EPIPE else {
            return CommandFailure(
                .cannotCreate,
                "the backup cannot be written to standard output: \(error.reason). What was sent is no backup."
            )
        }
        return CommandFailure(
            .cannotCreate,
            "the program that takes the backup has ended before it had all. What it has is no backup; "
                + "see what that program says."
        )
    }
}

extension DataFolder {
    /// The names of certificate files; empty if the certificates are the operator's.
    func namesInTLS() throws -> [String] {
        let path = self.path + "/tls"
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    }
}
