import Administration
import AssetStorage
import FileIO
import Foundation
import StorageContract

/// Error texts for backups and restores.
enum CopyAdvice {
    /// The text for an error while a folder was filled, or while the folder of a store was opened.
    static func failure(_ error: any Error, in path: String) -> CommandFailure {
        switch error {
        case let failure as CommandFailure: failure
        case let error as StoreCopyError: self.failure(error, in: path)
        case FileCopy.Failure.target(let error): self.failure(error, in: path)
        case FileCopy.Failure.source(let error): self.unreadable(error)
        case let error as FileError: self.failure(error, in: path)
        case let error as AssetStoreError: self.failure(error, in: path)
        case let error as CopyFailure where [ENOSPC, EDQUOT].contains(error.errno): self.diskFull(path)
        case let error as CopyFailure:
            CommandFailure(
                .cannotCreate,
                "\(error.path) cannot be written (error \(error.errno)). Check who owns \(path)."
            )
        default:
            if let error = FileError(wrapped: error) {
                self.failure(error, in: path)
            } else {
                CommandFailure(.cannotCreate, "\(path) cannot be written: \(error).")
            }
        }
    }

    static func failure(_ error: StoreCopyError, in path: String) -> CommandFailure {
        switch error {
        case .isMissing: DataFolder(path: path).hasNoStore
        case .isBackup: DataFolder.isBackup(path)
        case .isNoBackup:
            CommandFailure(
                .data,
                "the database of the backup is not one that tidemark backup has made. Use another backup."
            )
        case .formatTooNew(let found, let known):
            CommandFailure(
                .unavailable,
                "the database has format \(found), and this version knows \(known) and older. "
                    + "Use the version that wrote it, or a newer one."
            )
        case .formatUnreleased: EngineOpening.formatUnreleased("the database")
        case .diskFull: self.diskFull(path)
        case .savesMissing(let loss): LossAdvice.failure(loss, in: DataFolder(path: path))
        case .isDamaged(let code): EngineOpening.isDamaged(EngineOpening.files.path(in: path), code: code)
        case .failed(let code): EngineOpening.cannotCopy(code: code)
        }
    }

    private static func failure(_ error: AssetStoreError, in path: String) -> CommandFailure {
        switch error {
        case .full: self.diskFull(path)
        case .failed(let code): self.unwritable(path, code: code)
        case .tooManyOpenFiles: self.unwritable(path, code: EMFILE)
        case .missing, .busy, .ended: self.changed(path)
        }
    }

    private static func failure(_ error: FileError, in path: String) -> CommandFailure {
        switch error.errno {
        case ENOSPC, EDQUOT, EFBIG: self.diskFull(path)
        case ENOENT: self.changed(path)
        default: self.unwritable(path, code: error.errno)
        }
    }

    private static func unwritable(_ path: String, code: Int32) -> CommandFailure {
        code == EROFS
            ? ReadOnlyDisk.refusal(path)
            : CommandFailure(
                .cannotCreate,
                "\(path) cannot be written: \(String(cString: strerror(code))). Check who owns it, and its disk."
            )
    }

    private static func changed(_ path: String) -> CommandFailure {
        CommandFailure(.cannotCreate, "\(path) has changed meanwhile. Leave it alone, and try again.")
    }

    private static func diskFull(_ path: String) -> CommandFailure {
        CommandFailure(
            .cannotCreate,
            "the disk of \(path) is full, or takes no more. The copied files were removed; make room, or name a folder on another disk."
        )
    }

    private static func unreadable(_ error: FileError) -> CommandFailure {
        CommandFailure(.unavailable, "a file cannot be read (error \(error.errno)). Check who owns it.")
    }
}
