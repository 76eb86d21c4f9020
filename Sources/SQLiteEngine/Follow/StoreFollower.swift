import Foundation
import GRDB
import GRDBSQLite
import StorageContract

/// Follows the file of a store that a server writes: makes a copy, and then increments.
///
/// Changes are in SQLite's log. While following, a read transaction is always open (`guard`), and
/// the next one begins before the last ends. SQLite restarts its log only when all of it is in the
/// file and no connection reads it. So each frame stays until it was copied:
///
/// ```text
/// the guard reads     a restart of the log          frames behind the guard
/// from the log        not while it lasts            stay unchanged
/// from the file       once at most, as none of      stay after the restart, and cannot
/// alone               them can reach the file       reach the file while the guard lasts
/// ```
///
/// A follower that was killed has left its position on disk. It resumes there if the log still has
/// the position; otherwise it must copy everything again.
///
/// Used by one thread.
final class StoreFollower: FollowedStore {
    /// Number of frames from which on the follower has the log restarted: 200 MiB.
    static let framesMax: Int64 = 50_000
    /// Maximum number of frames that are read while writers wait: 4 MiB, kept in memory until the
    /// next copy.
    private static let framesHeldMax = 1_000
    private static let readLockSeconds = 10.0
    private static let writeLockSeconds = 2.0

    private let path: String
    private let file: DatabaseFile
    private let clock: () -> Int64
    private let framesMax: Int64
    private let identity: FileIdentity
    /// Two connections; one has the open transaction.
    private var readers: [DatabaseQueue]
    private var standing = Standing.lost
    private let checkpointer: DatabaseQueue
    private let locker: DatabaseQueue
    private var position = LogPosition.beginning
    /// Pages of commits up to `position` that are in no copy yet.
    private var held = HeldPages()

    /// The state of the commits after the position.
    private enum Standing {
        /// Unknown: during each call, and after an error.
        case lost
        /// In the log, unless it was restarted since an earlier process stopped.
        case resumed
        /// The copy may have some of them. It has all of them if the log was restarted.
        case copied
        /// The transaction protects all of them.
        case current
    }

    private struct HeldPages {
        var pages: [UInt32: [UInt8]] = [:]
        var pageBytes = 0
        var filePages: UInt32 = 0
    }

    /// - Throws: `isMissing`, `isBackup`.
    init(
        in directory: String,
        clock: @escaping () -> Int64,
        framesMax: Int64 = StoreFollower.framesMax
    ) throws(StoreCopyError) {
        let path = StoreFile.path(in: directory)
        guard let identity = FileIdentity(of: path) else { throw .isMissing }
        self.path = path
        self.clock = clock
        self.framesMax = framesMax
        self.identity = identity
        (self.file, self.readers, self.checkpointer, self.locker) = try StoreCopyError.wrapping {
            let file = try DatabaseFile(
                configuration: SQLiteEngineConfiguration(directory: directory, housekeeping: nil)
            )
            try file.refuseLoss()
            let checkpointer = try file.openCheckpointer()
            let locker = try Self.open(path, isReader: false)
            for connection in [checkpointer, locker] { connection.inDatabase(Self.keepLog) }
            let readers = try [Self.open(path, isReader: true), Self.open(path, isReader: true)]
            return (file, readers, checkpointer, locker)
        }
        guard try !StoreCopyError.wrapping({ try self.checkpointer.inDatabase(BackupMark.isOn) }) else {
            throw .isBackup
        }
    }

    private static func open(_ path: String, isReader: Bool) throws -> DatabaseQueue {
        var configuration = SQLiteProcess.configuration("tidemark.follower")
        configuration.readonly = isReader
        configuration.allowsUnsafeTransactions = true
        configuration.busyMode = .timeout(isReader ? Self.readLockSeconds : Self.writeLockSeconds)
        return try SQLiteProcess.open(path, configuration)
    }

    /// Keeps the log when this connection is the last to close the file.
    ///
    /// SQLite would remove it, and thereby the position.
    private static func keepLog(_ database: Database) {
        var isKept: CInt = 1
        _ = sqlite3_file_control(database.sqliteConnection, "main", SQLITE_FCNTL_PERSIST_WAL, &isKept)
    }

    var isCurrent: Bool { FileIdentity(of: self.path) == self.identity }

    func close() {
        for reader in self.readers {
            try? reader.inDatabase { if $0.isInsideTransaction { try $0.execute(sql: "COMMIT") } }
        }
        for connection in self.readers + [self.checkpointer, self.locker] { try? connection.close() }
    }

    // MARK: Copies

    func copyAll(to path: String, progress: (Int) -> Void) throws(StoreCopyError) -> StoreMoment {
        self.standing = .lost
        try self.advance()
        self.held = HeldPages()
        // Commits after the position are kept, and the new snapshot has at least these.
        self.position = try self.lastPosition()
        let reader = try self.beginNext()
        let now = self.clock()
        try StoreCopyError.wrapping {
            try withoutActuallyEscaping(progress) { progress in
                try reader.inDatabase { try StoreFile.copy($0, to: path, progress: progress) }
            }
        }
        try BackupMark.put(intoFile: path)
        try self.endLast()
        self.standing = .copied
        return StoreMoment(milliseconds: now, position: self.position.text)
    }

    func resume(after position: StorePosition) throws(StoreCopyError) -> Bool {
        self.standing = .lost
        guard let position = LogPosition(position) else { return false }
        try self.advance()
        guard let log = try LogFile(of: self.path), try log.has(position) else { return false }
        self.position = position
        self.held = HeldPages()
        self.standing = .resumed
        return true
    }

    func copyChanges(to path: String) throws(StoreCopyError) -> StoreChanges {
        let standing = self.standing
        self.standing = .lost
        // The last transaction stays open until everything is copied that the next one does not
        // protect.
        _ = try self.beginNext()
        let log = try LogFile(of: self.path)
        let header = try log?.header()
        switch standing {
        case .lost: return .lost
        case .resumed: guard let header, header.salts == self.position.salts else { return .lost }
        case .copied, .current: break
        }
        guard let commits = try self.commits(log, header) else { return .lost }
        let now = self.clock()
        if let file = self.pageFile(commits, header) {
            try log?.sync()
            try file.write(to: path) { (number) throws(StoreCopyError) in
                guard let frame = commits.frames[number], let log, let header else {
                    return self.held.pages[number] ?? []
                }
                return try log.page(ofFrame: frame, header)
            }
        }
        // The last transaction did not prevent a restart of the log during the read.
        if standing != .current, let header, try log?.header() != header { return .lost }
        let isChanged = commits.filePages != 0 || !self.held.pages.isEmpty
        self.position = commits.position
        self.held = HeldPages()
        try self.endLast()
        self.standing = .current
        let moment = StoreMoment(milliseconds: now, position: self.position.text)
        return isChanged ? .copied(moment) : .unchanged(moment)
    }

    /// The changes to write; `nil` if there are none.
    private func pageFile(_ commits: LogCommits, _ header: LogFile.Header?) -> PageFile? {
        let filePages = commits.filePages != 0 ? commits.filePages : self.held.filePages
        guard filePages != 0 else { return nil }
        return PageFile(
            pageBytes: header?.pageBytes ?? self.held.pageBytes,
            filePages: filePages,
            // Without pages that the last commit truncated.
            numbers: Set(commits.frames.keys).union(self.held.pages.keys).filter { $0 <= filePages }.sorted()
        )
    }

    /// The commits after the position, also from a restarted log.
    ///
    /// - Returns: `nil` if the log has another history. If a server is killed between writing a
    ///   commit and acknowledging it, the next one may overwrite it.
    private func commits(_ log: LogFile?, _ header: LogFile.Header?) throws(StoreCopyError) -> LogCommits? {
        guard let log, let header else { return LogCommits(position: self.position) }
        if header.salts == self.position.salts {
            guard try log.has(self.position) else { return nil }
            return try log.commits(after: self.position, header)
        }
        let start = LogPosition(salts: header.salts, frames: 0, sum: header.sum)
        let commits = try log.commits(after: start, header)
        // A restarted log without a commit does not count yet.
        return commits.filePages == 0 ? LogCommits(position: self.position) : commits
    }

    private func lastPosition() throws(StoreCopyError) -> LogPosition {
        guard let log = try LogFile(of: self.path), let header = try log.header() else { return .beginning }
        let start = LogPosition(salts: header.salts, frames: 0, sum: header.sum)
        let commits = try log.commits(after: start, header)
        return commits.filePages == 0 ? .beginning : commits.position
    }

    // MARK: The guard

    /// Begins the next protecting transaction; the previous one stays open.
    private func beginNext() throws(StoreCopyError) -> DatabaseQueue {
        self.readers.swapAt(0, 1)
        let next = self.readers[0]
        try StoreCopyError.wrapping {
            try next.inDatabase { database in
                if database.isInsideTransaction { try database.execute(sql: "COMMIT") }
                try database.execute(sql: "BEGIN")
                // The snapshot begins with the first row that is read.
                _ = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master")
            }
        }
        return next
    }

    private func endLast() throws(StoreCopyError) {
        let last = self.readers[1]
        try StoreCopyError.wrapping {
            try last.inDatabase { if $0.isInsideTransaction { try $0.execute(sql: "COMMIT") } }
        }
    }

    private func advance() throws(StoreCopyError) {
        _ = try self.beginNext()
        try self.endLast()
    }

    // MARK: The log's length

    func release() throws(StoreCopyError) {
        try StoreCopyError.wrapping { try self.copyLog() }
        guard self.standing == .current, self.position.frames >= self.framesMax else { return }
        try self.beginLogAnew()
    }

    /// Checkpoints the frames that no connection reads; another process may be doing it.
    private func copyLog() throws {
        do {
            _ = try self.checkpointer.writeWithoutTransaction { try self.file.copyLog($0) }
        } catch DatabaseError.SQLITE_BUSY {
            return
        }
    }

    /// Lets the next writer restart the log without loss.
    ///
    /// Writers wait until all of the log is in the file and the guard reads from the file alone.
    /// Commits since the last copy are read first, and held in memory. If another reader prevents
    /// the restart, the next call tries again.
    private func beginLogAnew() throws(StoreCopyError) {
        let isLocked = try StoreCopyError.wrapping {
            do {
                try self.locker.inDatabase { try $0.execute(sql: "BEGIN IMMEDIATE") }
                return true
            } catch DatabaseError.SQLITE_BUSY {
                return false
            }
        }
        guard isLocked else { return }
        defer { try? self.locker.inDatabase { try $0.execute(sql: "ROLLBACK") } }
        guard try self.holdRest() else { return }
        // The locker's own snapshot is the newest, so no snapshot prevents a complete checkpoint.
        try self.advance()
        try StoreCopyError.wrapping { try self.copyLog() }
        try self.advance()
    }

    /// Reads all commits after the position into memory, while no connection can commit; `false` if
    /// they are too many.
    private func holdRest() throws(StoreCopyError) -> Bool {
        guard let log = try LogFile(of: self.path), let header = try log.header() else { return false }
        guard let commits = try self.commits(log, header) else { return false }
        guard commits.frames.count + self.held.pages.count <= Self.framesHeldMax else { return false }
        for (number, frame) in commits.frames {
            self.held.pages[number] = try log.page(ofFrame: frame, header)
        }
        if commits.filePages != 0 { self.held.filePages = commits.filePages }
        self.held.pageBytes = header.pageBytes
        self.position = commits.position
        return true
    }

    // MARK: Assets

    func assets(after number: AssetNumber?, limit: Int) throws(StoreCopyError) -> [StoredAsset] {
        try StoreCopyError.wrapping {
            try self.locker.inDatabase {
                try TableStatements($0).storedAssets(after: number, limit: limit)
            }
        }
    }

    func has(_ number: AssetNumber) throws(StoreCopyError) -> Bool {
        try StoreCopyError.wrapping {
            try self.locker.inDatabase { try TableStatements($0).isStored(number) }
        }
    }
}

/// Identifies a file, as opposed to another at the same path.
struct FileIdentity: Hashable {
    private let device: UInt64
    private let number: UInt64

    /// `nil` if there is no file.
    init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.device = UInt64(status.st_dev)
        self.number = UInt64(status.st_ino)
    }
}
