import Administration
import Foundation
import StorageContract

extension DataFolder {
    var hasStore: Bool { self.hasFile || StoreAddress.exists(in: self) }

    /// Whether the store is a file of the folder.
    var hasFile: Bool { FileManager.default.fileExists(atPath: EngineOpening.files.path(in: self.path)) }

    /// Refuses a folder with a store in PostgreSQL, for a command that copies files.
    func refuseUnlessFile() throws(CommandFailure) {
        guard StoreAddress.exists(in: self) else { return }
        throw CommandFailure(
            .usage,
            "the store of \(self.path) is in PostgreSQL, and this command copies SQLite's file. Copy the database with "
                + "pgBackRest, pg_basebackup or pg_dump, and \(self.assetsPath) after it: see the guide on PostgreSQL."
        )
    }

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
    /// - Throws: `cannotCreate`; `unavailable` if the file system is read-only.
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
