import EngineThreads
import Foundation
package import RecordStore

/// How a SQLite engine runs.
///
/// Everything has a default but the path.
package struct SQLiteEngineConfiguration: Sendable {
    package enum Durability: Sendable {
        /// A reply comes after the bytes are on disk.
        case full
        /// A reply comes when another process would see the change.
        ///
        /// A loss of power may take the change back. This is for tests.
        case relaxed
    }

    /// What happens to a file that is absent, or has an older format.
    package enum Preparation: Sendable {
        /// It is made, in a folder with access for its owner alone, or brought to the current format.
        case makeOrMigrate
        /// Opening it fails, and touches nothing.
        case none
    }

    /// The folder of `tidemark.sqlite`.
    package var directory: String
    package var preparation: Preparation = .makeOrMigrate
    /// Whether the engine only reads: every write is refused, and there is no housekeeping.
    ///
    /// It is for a process that stays beside a server, whose writer it never keeps waiting.
    package var isReader = false
    package var durability: Durability = .full
    /// The operator's choices for the store's housekeeping.
    package var housekeeping = HousekeepingRules()
    package var queues = QueueSettings()
    /// A clock that only goes forward.
    package var monotonicNanoseconds: @Sendable () -> Int64 = { MonotonicTime.nanoseconds() }
    /// Bytes of the reserve for deletes and administration on a full disk (`DiskReserve`).
    ///
    /// With 0 this process keeps no reserve, and may use a server's.
    package var reserveBytes: Int64 = 0
    /// What a server keeps: the log of some thousand deletes.
    package static let serverReserveBytes: Int64 = 64 * 1_024 * 1_024
    /// Pages of 4,096 bytes that the file may have; `nil` if only the disk limits them.
    ///
    /// Tests fill a disk with it.
    package var filePagesMax: Int?
    /// How long the log may keep what was deleted, while somebody writes.
    package var logSecondsMax: Int64 = 3_600
    /// Makes what was written to a file durable: 0, or the number of the system's error.
    ///
    /// Tests make it wait or fail.
    package var syncFile: @Sendable (Int32) -> Int32 = { fdatasync($0) == 0 ? 0 : errno }

    package init(directory: String) {
        self.directory = directory
    }
}

/// Why an engine can't be opened.
package enum SQLiteEngineError: Error, Hashable, Sendable {
    /// A newer version of the server wrote the file.
    case formatTooNew(found: Int, known: Int)
    /// There is no file, or nothing in it, and none is to be made.
    case isMissing(path: String)
    /// An older version of the server wrote the file, and it is not to be changed.
    case formatTooOld(found: Int, known: Int)
    /// A version before the first release wrote the file.
    case formatUnreleased(path: String)
    /// Another process makes the file, or brings it to the current format: try again soon.
    case isBeingPrepared(path: String)
    /// The file is a copy that nobody may write to: a backup, or one whose restore has not come to its end.
    case isBackup(path: String)
    /// The file is no database, or is damaged.
    case isDamaged(path: String, sqliteCode: Int32)
    /// The disk is full, or takes no more.
    case diskFull(path: String)
    /// The folder or the file can't be made, read or written.
    case cannotOpen(path: String, reason: String)
}
