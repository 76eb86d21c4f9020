import Administration
import FileIO
import Foundation
import ServerCertificates
import StorageContract

/// A backup: the parts of a data folder that a server needs, and a manifest.
///
/// ```text
/// DIR/                    0700
///     backup.unfinished   from the beginning to the end
///     tidemark.sqlite     marked: no engine opens it
///     assets/             complete files only
///     tls/
///     backup.json         written when all else is on the disk: see BackupManifest
/// ```
struct BackupFolder: Hashable {
    /// Absolute.
    let path: String

    init(path: String) {
        self.path = URL(fileURLWithPath: path).standardizedFileURL.path
    }

    var manifestPath: String { self.path + "/backup.json" }
    var unfinishedPath: String { self.path + "/backup.unfinished" }
    var assetsPath: String { self.path + "/assets" }

    /// Refuses a backup that other users may have changed.
    ///
    /// With its files they could give themselves tokens and keys.
    ///
    /// - Throws: `configuration`.
    func refuseIfShared() throws(CommandFailure) {
        try Self.refuse(sharedAmong: [
            self.path, self.manifestPath, EngineOpening.files.path(in: self.path),
        ])
    }

    static func refuse(sharedAmong paths: [String]) throws(CommandFailure) {
        guard let shared = paths.first(where: { FileStatus(path: $0)?.isWritableForOthers ?? false })
        else { return }
        throw CommandFailure(
            .configuration,
            "other users may write to \(shared), and may have changed the backup. If you know that they have not: "
                + "chmod go-w \(ShellText.quoted(shared))"
        )
    }
}

/// The files of a backup, with their sizes and hashes at the time of the backup.
struct BackupManifest: Codable, Hashable {
    /// A file that is not an asset.
    ///
    /// The hashes of assets are in the database.
    struct File: Codable, Hashable {
        /// Relative to the folder: the database's name, or `tls/` and a name.
        var path: String
        var bytes: Int64
        /// In hexadecimal.
        var sha256: String
    }

    static let currentFormat = 1

    var format = Self.currentFormat
    /// When the backup was complete, in ISO 8601.
    var date: String
    /// The version of the server that made it.
    var server: String
    var files: [File]
    var assets: Int
    var assetBytes: Int64
    /// Assets that were missing or damaged when the backup was made.
    var damaged: [AssetReport.Damaged]
    /// For a stream, paths of files in it that are no part of the backup.
    var unused: [String]?

    init(
        files: [File],
        totals: (assets: Int, bytes: Int64),
        damaged: [AssetReport.Damaged]
    ) {
        self.date = Date().ISO8601Format()
        self.server = Tidemark.version
        self.files = files
        self.assets = totals.assets - damaged.count
        self.assetBytes = totals.bytes - damaged.reduce(0) { $0 + $1.size }
        self.damaged = damaged
    }

    /// Size of all files.
    var bytes: Int64 { self.assetBytes + self.files.reduce(0) { $0 + $1.bytes } }

    static func read(in folder: BackupFolder) throws(CommandFailure) -> BackupManifest {
        let files = FileManager.default
        guard let json = files.contents(atPath: folder.manifestPath) else {
            guard files.fileExists(atPath: folder.unfinishedPath) else {
                throw CommandFailure(
                    .data,
                    "\(folder.path) is not a backup: it has no backup.json. "
                        + "Name a folder that was made with tidemark backup."
                )
            }
            throw CommandFailure(
                .data,
                "the backup in \(folder.path) is incomplete, and cannot be used. Make another one."
            )
        }
        return try self.read(json, of: folder.manifestPath)
    }

    /// Reads the text of a manifest; `name` is for messages.
    static func read(_ json: Data, of name: String) throws(CommandFailure) -> BackupManifest {
        guard let version = try? JSONDecoder().decode(Version.self, from: json),
            version.format <= self.currentFormat
        else {
            throw CommandFailure(
                .data,
                "\(name) cannot be read by this version. Use the one that made the backup, or a newer one."
            )
        }
        guard let manifest = try? JSONDecoder().decode(BackupManifest.self, from: json),
            manifest.files.allSatisfy({ self.isPath($0.path) })
        else {
            throw CommandFailure(.data, "\(name) is damaged. Make another backup.")
        }
        return manifest
    }

    private struct Version: Decodable {
        var format: Int
    }

    /// Whether the path stays in the folder, and is a permitted one.
    static func isPath(_ path: String) -> Bool {
        guard path != EngineOpening.files.name else { return true }
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 2 && parts[0] == "tls" && ![".", "..", ""].contains(parts[1])
    }
}

extension BackupManifest.File {
    init(path: String, _ copy: FileCopy.Outcome) {
        self.path = path
        self.bytes = copy.bytes
        self.sha256 = Hexadecimal.text(of: copy.sha256)
    }
}
