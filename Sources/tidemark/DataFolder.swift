import ArgumentParser
import Foundation
import RecordStore

/// `--data DIR`, which every command takes.
struct DataOption: ParsableArguments {
    @Option(
        name: .customLong("data"),
        help: ArgumentHelp(
            "The folder of the server's data.",
            discussion: "Without it TIDEMARK_DATA, without that ./tidemark-data.",
            valueName: "dir"
        )
    )
    var path: String?

    var folder: DataFolder {
        let environment = ProcessInfo.processInfo.environment["TIDEMARK_DATA"] ?? ""
        return DataFolder(path: self.path ?? (environment.isEmpty ? "./tidemark-data" : environment))
    }
}

/// The folder in which a server stores everything.
///
/// ```text
/// DIR/              0700
///     lock          locked by the server that serves this folder; its process number
///     reserve       room for deletes and administration on a full disk: see DiskReserve
///     tls/          see ServerCertificates
///     assets/       see AssetStore; several servers of a database share it: see SharedAssets
///     telemetry.ring       figures of the last day: see TelemetryFile
///     backups.json         what was backed up where: see BackupNotes
///     served.json          settings for commands beside the server: see ServedSettings
///     console.log   what was changed from pages of the console: see ConsoleAudit
///     …             the engine's files
///     postgresql.json      in their place, where the store is in PostgreSQL: see StoreAddress
///     restore.unfinished   during a restore, and after one that was interrupted
///     move.unfinished      the same of a move to another engine: see MoveMark
/// ```
struct DataFolder: Hashable {
    /// Absolute, because printed paths are used from other folders.
    let path: String

    init(path: String) {
        self.path = URL(fileURLWithPath: path).standardizedFileURL.path
    }

    var assetsPath: String { self.path + "/assets" }

    var consoleLogPath: String { self.path + "/console.log" }

    var hasStore: Bool { self.hasFile || StoreAddress.exists(in: self) }

    /// Whether the store is a file of the folder.
    var hasFile: Bool { FileManager.default.fileExists(atPath: EngineOpening.files.path(in: self.path)) }

    /// Refuses a folder whose store is in PostgreSQL, for a command that copies files.
    func refuseUnlessFile() throws(CommandFailure) {
        guard StoreAddress.exists(in: self) else { return }
        throw CommandFailure(
            .usage,
            "the store of \(self.path) is in PostgreSQL, and this command copies SQLite's file. Copy the database with "
                + "pgBackRest, pg_basebackup or pg_dump, and \(self.assetsPath) after it: see the guide on PostgreSQL."
        )
    }

    /// Exists until a restore is complete.
    var unfinishedRestorePath: String { self.path + "/restore.unfinished" }

    /// Refuses a folder that this process must not serve or change: another user's, a backup, or
    /// one with an incomplete restore.
    func refuseUnlessServable() throws(CommandFailure) {
        try DataFolderAccess(folder: self).check()
        let backup = BackupFolder(path: self.path)
        let chain = BackupChain(path: self.path)
        let files = FileManager.default
        let marks = [backup.manifestPath, backup.unfinishedPath, chain.tipPath]
        if marks.contains(where: { files.fileExists(atPath: $0) }) {
            throw Self.isBackup(self.path, restore: self.path)
        }
        if let mark = try MoveMark.read(from: self) { throw mark.isUnfinished(in: self) }
        if files.fileExists(atPath: self.unfinishedRestorePath) {
            throw CommandFailure(
                .data,
                "a restore into \(self.path) is not complete. Wait for it; if it was interrupted, run it again: "
                    + "tidemark restore --from BACKUP --data \(self.path)"
            )
        }
    }

    /// The error for a folder with the contents of a backup.
    ///
    /// `backup` is the folder to restore from, if it is known.
    static func isBackup(_ path: String, restore backup: String = "BACKUP") -> CommandFailure {
        CommandFailure(
            .data,
            "\(path) contains a backup, which cannot be served as it is: clients would miss changes. "
                + "Restore the backup into another folder: tidemark restore --from \(backup) --data DIR"
        )
    }

    /// The error for a folder that is not there.
    var isAbsent: CommandFailure {
        CommandFailure(
            .noStore,
            "nothing is at \(self.path): no server has made a folder there. Name the server's with --data, or start a server: "
                + "tidemark serve --data \(ShellText.quoted(self.path))"
        )
    }

    /// The error for a folder without a store.
    var hasNoStore: CommandFailure {
        CommandFailure(
            .noStore,
            "\(self.path) is not a data folder: it has no \(EngineOpening.files.name). Name the server's with --data, or start a server: "
                + "tidemark serve --data \(ShellText.quoted(self.path))"
        )
    }

    /// Makes the folder if it does not exist.
    ///
    /// - Throws: `cannotCreate`; `unavailable` if nobody may write there.
    func make() throws(CommandFailure) {
        do {
            try FileManager.default.createDirectory(
                atPath: self.path,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            if ReadOnlyDisk.has(self.path) { throw ReadOnlyDisk.refusal(self.path) }
            throw CommandFailure(
                .cannotCreate,
                "the data folder \(self.path) cannot be made. Name a folder that you may write to with --data."
            )
        }
        guard FileManager.default.isWritableFile(atPath: self.path) else {
            if ReadOnlyDisk.has(self.path) { throw ReadOnlyDisk.refusal(self.path) }
            throw CommandFailure(
                .cannotCreate,
                "the data folder \(self.path) is not writable for this user. Name another with --data."
            )
        }
    }
}
