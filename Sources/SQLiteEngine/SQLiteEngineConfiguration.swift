package import Admission
import EngineThreads
import Foundation
package import StorageContract

/// The settings of a SQLite engine.
///
/// All but the path have defaults.
package struct SQLiteEngineConfiguration: Sendable {
    package enum Durability: Sendable {
        /// A reply is sent after the bytes are on disk.
        case full
        /// A reply is sent when other processes can see the change.
        ///
        /// A loss of power may lose the change. For tests.
        case relaxed
    }

    /// How to handle a file that is absent or has an older format.
    package enum Preparation: Sendable {
        /// Creates it, in a folder with access for its owner alone, or migrates it to the current
        /// format.
        case makeOrMigrate
        /// Opening it fails without any change.
        case none
    }

    /// The folder of `tidemark.sqlite`.
    package var directory: String
    package var preparation: Preparation = .makeOrMigrate
    /// Whether the engine only reads: every write is refused, and there is no housekeeping.
    ///
    /// For a process beside a server: it never blocks the server's writer.
    package var isReader = false
    package var durability: Durability = .full
    /// The store's housekeeping; `nil` for an engine that only reads.
    package var housekeeping: MakeHousekeeper?
    package var queues = QueueSettings()
    /// A monotonic clock.
    package var monotonicNanoseconds: @Sendable () -> Int64 = { MonotonicTime.nanoseconds() }
    /// Bytes of the reserve for deletes and administration on a full disk (`DiskReserve`).
    ///
    /// With 0 this process keeps no reserve, and may use a server's.
    package var reserveBytes: Int64 = 0
    /// The reserve of a server: the log of several thousand deletes.
    package static let serverReserveBytes: Int64 = 64 * 1_024 * 1_024
    /// Maximum number of 4,096-byte pages of the file; `nil` if only the disk limits it.
    ///
    /// Tests fill a disk with it.
    package var filePagesMax: Int?
    /// Maximum time that deleted data may stay in the log while there are writes.
    package var logSecondsMax: Int64 = 3_600
    /// Makes a file's written data durable; returns 0, or the system's error number.
    ///
    /// Tests make it wait or fail.
    package var syncFile: @Sendable (Int32) -> Int32 = { fdatasync($0) == 0 ? 0 : errno }

    package init(directory: String, housekeeping: MakeHousekeeper?) {
        self.directory = directory
        self.housekeeping = housekeeping
    }
}

/// Why an engine can't be opened.
package enum SQLiteEngineError: Error, Hashable, Sendable {
    /// A newer version of the server wrote the file.
    case formatTooNew(found: Int, known: Int)
    /// The file is missing or empty, and is not to be created.
    case isMissing(path: String)
    /// An older version of the server wrote the file, and it is not to be migrated.
    case formatTooOld(found: Int, known: Int)
    /// A version before the first release wrote the file.
    case formatUnreleased(path: String)
    /// Another process is creating or migrating the file: try again soon.
    case isBeingPrepared(path: String)
    /// The file is a copy that may not be written: a backup, or one with an incomplete restore.
    case isBackup(path: String)
    /// The file is no database, or is damaged.
    case isDamaged(path: String, sqliteCode: Int32)
    /// Commits that were acknowledged are missing, and to go on is an operator's decision
    /// (`StoreRepair`).
    case savesMissing(LogLoss)
    /// The disk is full.
    case diskFull(path: String)
    /// The folder or the file can't be created, read or written.
    case cannotOpen(path: String, reason: String)
}
