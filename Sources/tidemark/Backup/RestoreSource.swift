import Administration
import FileIO
import Foundation
import StorageContract

/// The source of a restore: the folder of a backup, or a stream.
protocol RestoreSource {
    /// The summary of the backup, as far as known before its files are read.
    var summary: BackupSummary { get }
    /// Size of all files, as far as known.
    var bytes: Int64 { get }

    /// Puts all files of the backup into a folder, each compared with its hash.
    ///
    /// - Durability: None.
    mutating func fill(_ target: DataFolder, _ bar: inout ProgressBar) throws -> FilledFolder
}

/// A backup's description of itself.
struct BackupSummary: Hashable {
    /// When it was complete, in ISO 8601; of a stream, when it began.
    var date: String
    /// The version of the server that made it.
    var server: String
    /// Assets that were missing or damaged when it was made.
    var damaged: [AssetReport.Damaged] = []
}

/// The files of a backup in the folder of a restore.
struct FilledFolder {
    /// The copy of the database, with the mark.
    let store: any StoreCopy
    /// Assets that are missing or damaged.
    let damaged: [AssetReport.Damaged]
}

/// The folder of a backup.
struct FolderSource: RestoreSource {
    private let backup: BackupFolder
    private let manifest: BackupManifest

    /// - Throws: `data`, `configuration`.
    init(_ backup: BackupFolder) throws(CommandFailure) {
        try backup.refuseIfShared()
        self.backup = backup
        self.manifest = try BackupManifest.read(in: backup)
    }

    var summary: BackupSummary {
        BackupSummary(
            date: self.manifest.date,
            server: self.manifest.server,
            damaged: self.manifest.damaged
        )
    }

    var bytes: Int64 { self.manifest.bytes }

    mutating func fill(_ target: DataFolder, _ bar: inout ProgressBar) throws -> FilledFolder {
        for file in self.manifest.files { try self.copy(file, to: target, &bar) }
        let store = try EngineOpening.files.copy(ofBackup: EngineOpening.files.path(in: target.path))
        var assets = AssetCopying(from: self.backup.assetsPath, to: target.assetsPath)
        let damaged = try assets.copy(namedBy: store, &bar)
        return FilledFolder(store: store, damaged: assets.report(damaged))
    }

    private func copy(
        _ file: BackupManifest.File,
        to target: DataFolder,
        _ bar: inout ProgressBar
    ) throws {
        let folder = try CopyFolder(making: target.path)
        if file.path.hasPrefix("tls/") { try folder.makeSubfolder("tls") }
        let source = self.backup.path + "/" + file.path
        let made: FileCopy.Outcome
        do throws(FileCopy.Failure) {
            made = try FileCopy.copy(source, to: target.path + "/" + file.path) { bar.add($0) }
        } catch {
            guard case .source(let error) = error else { throw error }
            throw CommandFailure(
                .data,
                "\(source), a file of the backup, cannot be read: \(error.reason). Use another backup."
            )
        }
        guard BackupManifest.File(path: file.path, made) == file else {
            throw CommandFailure(
                .data,
                "\(source) has changed since the backup was made. Use another backup."
            )
        }
    }
}
