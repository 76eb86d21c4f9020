import Foundation
import GRDB
import GRDBSQLite
import StorageContract

/// The file, and the ways to open connections to it.
struct DatabaseFile: Sendable {
    let path: String
    let durability: SQLiteEngineConfiguration.Durability
    let pagesMax: Int?
    private let preparation: SQLiteEngineConfiguration.Preparation
    /// Checkpoints by `IdleCheckpoint`; those of the writer come with commits.
    let copies = LogCopies()

    static let name = "tidemark.sqlite"
    static let pageBytes: Int64 = 4_096
    private static let writerCacheKiB = 256 * 1024
    private static let readerCacheKiB = 16 * 1024
    /// SQLite's maximum.
    private static let mappedBytes: Int64 = 0x7FFF_0000
    /// SQLite maps the file again when its bound changes.
    private static let otherMappedBytes = mappedBytes - 65_536
    static let busyTimeoutSeconds = 10.0
    /// A long log lets several changes of one page cost one write to the file.
    ///
    /// 800 MB, which take about a second to read again after a crash; PostgreSQL's default is 1 GB.
    private static let checkpointPages = 200_000

    init(configuration: SQLiteEngineConfiguration) throws(SQLiteEngineError) {
        self.path = configuration.directory + "/" + Self.name
        self.durability = configuration.durability
        self.pagesMax = configuration.filePagesMax
        self.preparation = configuration.preparation
        guard self.preparation == .makeOrMigrate else { return }
        do {
            try FileManager.default.createDirectory(
                atPath: configuration.directory,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw .cannotOpen(path: configuration.directory, reason: String(describing: error))
        }
    }

    /// The size of a file; 0 if there is none.
    static func bytes(at path: String) -> Int64 {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// Opens the writing connection, after migrating the file to the known format.
    ///
    /// `onTornLog` is called if the log has commits behind its end.
    func openWriter(onTornLog: () -> Void = {}) throws(SQLiteEngineError) -> DatabaseQueue {
        do {
            let isMaker = self.preparation == .makeOrMigrate
            guard try isMaker || self.hasContent() else {
                throw SQLiteEngineError.isMissing(path: self.path)
            }
            let folder = (self.path as NSString).deletingLastPathComponent
            guard let lock = try FormatLock(folder: folder, waits: isMaker) else {
                throw SQLiteEngineError.isBeingPrepared(path: self.path)
            }
            let writer = Result {
                if try self.refuseLoss().hasCommitsBehind { onTornLog() }
                return try self.openLocked()
            }
            _ = consume lock
            return try writer.get()
        } catch let error as SQLiteEngineError {
            throw error
        } catch is FormatUnreleased {
            throw .formatUnreleased(path: self.path)
        } catch StoreCopyError.savesMissing(let loss) {
            throw .savesMissing(loss)
        } catch {
            throw SQLiteEngineError(error, path: self.path)
        }
    }

    /// Refuses a log that lacks synced commits, while SQLite has not touched it yet.
    ///
    /// - Throws: `savesMissing`, `failed`.
    @discardableResult
    func refuseLoss() throws(StoreCopyError) -> LogCheck {
        let check = try LogCheck(of: self.path)
        if let loss = check.loss { throw .savesMissing(loss) }
        return check
    }

    /// Refuses a file that is older than the note of its log.
    private func refuseOlder(_ database: Database) throws {
        let synced = SyncedNote.records(of: self.path).synced
        guard let synced, try synced.isNewer(than: database) else { return }
        throw SQLiteEngineError.savesMissing(
            LogLoss(.databaseOlder, path: self.path, milliseconds: synced.milliseconds)
        )
    }

    /// Opens the file while no other process creates or changes its tables.
    private func openLocked() throws -> DatabaseQueue {
        let queue = try SQLiteProcess.open(self.path, self.writerConfiguration)
        guard try !queue.inDatabase({ try BackupMark.isOn($0) }) else {
            throw SQLiteEngineError.isBackup(path: self.path)
        }
        let found = try queue.inDatabase { try Migrations.format(of: $0) }
        let known = Migrations.formatKnown
        guard found <= known else { throw SQLiteEngineError.formatTooNew(found: found, known: known) }
        guard found == known || self.preparation == .makeOrMigrate else {
            throw found == 0
                ? SQLiteEngineError.isMissing(path: self.path)
                : SQLiteEngineError.formatTooOld(found: found, known: known)
        }
        try queue.inDatabase { database in
            _ = try String.fetchOne(database, sql: "PRAGMA journal_mode = WAL")
            // `LogSync` syncs the log after each commit.
            try database.execute(sql: "PRAGMA synchronous = \(self.durability.synchronous)")
            _ = try Int.fetchOne(database, sql: "PRAGMA wal_autocheckpoint = \(Self.checkpointPages)")
        }
        if found < known { try Migrations.migrator.migrate(queue) }
        try queue.inDatabase { try self.refuseOlder($0) }
        return queue
    }

    private var writerConfiguration: Configuration {
        var configuration = SQLiteProcess.configuration("tidemark.writer")
        configuration.busyMode = .timeout(Self.busyTimeoutSeconds)
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA page_size = \(Self.pageBytes)")
            try database.execute(sql: "PRAGMA cache_size = -\(Self.writerCacheKiB)")
            try database.execute(sql: "PRAGMA temp_store = MEMORY")
            // Deleted data is overwritten, so that later backups do not contain it.
            _ = try Int.fetchOne(database, sql: "PRAGMA secure_delete = ON")
            if let pagesMax = self.pagesMax {
                try database.execute(sql: "PRAGMA max_page_count = \(pagesMax)")
            }
        }
        return configuration
    }

    /// Whether a process has begun to create the file.
    private func hasContent() throws -> Bool {
        var status = stat()
        guard stat(self.path, &status) == 0 else {
            guard errno == ENOENT || errno == ENOTDIR else {
                throw POSIXError(POSIXError.Code(rawValue: errno) ?? .EIO)
            }
            return false
        }
        return status.st_size > 0
    }

    /// Opens the log beside SQLite, and makes its directory entry durable.
    ///
    /// The log exists as long as a connection writes. Closing a second descriptor of a file drops
    /// its POSIX locks, but those are on other files.
    func openLog() throws -> FileHandle {
        let log = try FileHandle(forReadingFrom: URL(fileURLWithPath: self.path + "-wal"))
        let folder = open((self.path as NSString).deletingLastPathComponent, O_RDONLY | O_DIRECTORY)
        guard folder >= 0 else { throw CocoaError(.fileReadNoPermission) }
        defer { close(folder) }
        guard fsync(folder) == 0 else { throw CocoaError(.fileWriteUnknown) }
        return log
    }

    /// Opens a connection for checkpoints.
    func openCheckpointer() throws -> DatabaseQueue {
        var configuration = SQLiteProcess.configuration("tidemark.checkpointer")
        configuration.busyMode = .immediateError
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA synchronous = \(self.durability.synchronous)")
        }
        return try SQLiteProcess.open(self.path, configuration)
    }

    /// Checkpoints the log, if the disk has room for that.
    ///
    /// A checkpoint that fails leaves the file at its new size.
    ///
    /// - Returns: Whether the log is fully checkpointed, or there is no room for that.
    @discardableResult
    func copyLog(_ database: Database) throws -> Bool {
        if let disk = DiskSpace(at: self.path), disk.free < self.growth(database) { return true }
        let bytes = Self.bytes(at: self.path)
        let copied = try database.checkpoint(.passive)
        // Mapping the file again makes every reader fault its pages in again.
        if Self.bytes(at: self.path) != bytes { self.copies.happened() }
        return copied.checkpointedFrameCount == copied.walFrameCount
    }

    /// Checkpoints the log and truncates it; does neither without room for that.
    ///
    /// - Returns: Whether there was room.
    func emptyLog(_ database: Database) throws -> Bool {
        if let disk = DiskSpace(at: self.path), disk.free < self.growth(database) { return false }
        _ = try database.checkpoint(.truncate)
        return true
    }

    /// Bytes that a checkpoint adds to the file.
    func growth(_ database: Database) -> Int64 {
        let pages = (try? Int64.fetchOne(database, sql: "PRAGMA page_count")) ?? 0
        return max(0, pages * Self.pageBytes - Self.bytes(at: self.path))
    }

    /// Bytes of the file's free pages.
    func freeBytes(_ database: Database) -> Int64 {
        ((try? Int64.fetchOne(database, sql: "PRAGMA freelist_count")) ?? 0) * Self.pageBytes
    }

    /// Opens a connection for reads.
    func openReader() throws -> DatabaseQueue {
        var configuration = SQLiteProcess.configuration("tidemark.reader")
        configuration.readonly = true
        configuration.busyMode = .timeout(Self.busyTimeoutSeconds)
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA cache_size = -\(Self.readerCacheKiB)")
            try database.execute(sql: "PRAGMA mmap_size = \(Self.mappedBytes)")
        }
        return try SQLiteProcess.open(self.path, configuration)
    }

    /// Makes a read connection without a transaction map the file at its current size.
    ///
    /// If that fails, reads are slower, but correct.
    static func mapAnew(_ connection: OpaquePointer) {
        // A negative bound queries the current one.
        var bytes: Int64 = -1
        _ = sqlite3_file_control(connection, "main", SQLITE_FCNTL_MMAP_SIZE, &bytes)
        bytes = bytes == Self.mappedBytes ? Self.otherMappedBytes : Self.mappedBytes
        _ = sqlite3_file_control(connection, "main", SQLITE_FCNTL_MMAP_SIZE, &bytes)
    }
}

extension SQLiteEngineConfiguration.Durability {
    /// The value of SQLite's pragma.
    ///
    /// `NORMAL` syncs the log before a checkpoint, and the file after it. It does not sync the log
    /// at each commit.
    fileprivate var synchronous: String { self == .full ? "NORMAL" : "OFF" }
}

extension SQLiteEngineError {
    /// Why a file could not be opened.
    init(_ error: any Error, path: String) {
        guard let error = error as? DatabaseError else {
            self = .cannotOpen(path: path, reason: (error as? POSIXError)?.localizedDescription ?? "\(error)")
            return
        }
        let code = error.extendedResultCode
        switch code.primaryResultCode {
        case .SQLITE_NOTADB, .SQLITE_CORRUPT: self = .isDamaged(path: path, sqliteCode: code.rawValue)
        case _ where StorageFailure(error).isForWantOfRoom: self = .diskFull(path: path)
        default:
            self = .cannotOpen(path: path, reason: "\(error.message ?? "") (SQLite's error \(code.rawValue))")
        }
    }
}
