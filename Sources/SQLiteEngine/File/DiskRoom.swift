import GRDB
import GRDBSQLite
import RecordModel
import StorageContract
import Synchronization

/// Lends the reserve to deletes, administration and housekeeping when the disk is full.
///
/// ```text
/// whole   a write fails for lack of room: the reserve is released, the log checkpointed, and the
///         reserve taken again as far as there is room. Enough: whole, and the write is retried.
///         Else short.
/// short   only requests that free space are executed, in the room of the reserve; all others are
///         refused at once. Every two seconds the reserve is tried again. Enough: whole.
/// ```
///
/// Free pages of the file count as room, because saves can use them. So a store that has filled its
/// disk by itself accepts saves again once deletes have freed as much as the reserve lacks.
///
/// A checkpoint that fails leaves the file at its new size. So the log is checkpointed early while
/// the disk runs short, and not at all where there is no room for that.
///
/// A failing disk is not a full one: a refused write stays refused, and every two seconds a test
/// page is written to see whether the disk still fails.
///
/// SAFETY: used by the writer's thread alone, except for `reserve`, `isShort` and `condition`,
/// which any thread may read.
final class DiskRoom: @unchecked Sendable {
    let reserve: DiskReserve
    private let file: DatabaseFile
    private let report: @Sendable (EngineEvent) -> Void
    private let short = Atomic<Bool>(false)
    /// SQLite's code of the last write if it failed for another reason than a full disk; else 0.
    private let failure = Atomic<Int32>(0)
    private var database: Database?
    /// Whether a reserve is configured and possible.
    private var isKept: Bool
    /// Consecutive writes that failed for lack of room.
    private var failuresInARow = 0
    private var lookNanoseconds = Int64.min
    private var pagesWritten = 0
    /// The number of pages of the log at which to check, regardless of the clock.
    ///
    /// The bytes that the log adds to the file must fit into the reserve.
    private var lookPages: Int64 = 4_096

    private static let lookEveryNanoseconds: Int64 = 2_000_000_000
    /// With this much free space, the log needs no attention.
    private static let plentyBytes: Int64 = 128 * 1_024 * 1_024

    init(reserve: DiskReserve, file: DatabaseFile, report: @escaping @Sendable (EngineEvent) -> Void) {
        self.reserve = reserve
        self.file = file
        self.report = report
        self.isKept = reserve.isKept
    }

    /// Whether only requests that free space may be executed.
    var isShort: Bool { self.short.load(ordering: .relaxed) }

    /// An incomplete reserve means that the disk is full, or was and soon will be again.
    var condition: StorageCondition {
        let code = self.failure.load(ordering: .relaxed)
        if self.isShort || StorageFailure.unavailable(code: code).isForWantOfRoom { return .full }
        guard code == 0 else { return .fails(code: code) }
        return self.reserve.missingBytes > 0 ? .full : .works
    }

    func admits(_ job: WriteJob) -> Bool { !self.isShort || job.makesRoom }

    /// Takes the reserve.
    func start(_ database: Database) {
        self.database = database
        if self.isKept { self.settle(database) }
    }

    /// Frees disk space so that the failed write can be retried.
    ///
    /// - Returns: Whether there may be more room than before.
    func make(after failure: StorageFailure) -> Bool {
        guard failure.isForWantOfRoom, let database else {
            self.failed(failure)
            return false
        }
        self.failuresInARow += 1
        let isFirst = self.failuresInARow == 1
        let given = self.reserve.giveBack()
        // Checkpointed pages need not stay in the log: its space is reused.
        if given > 0 || isFirst { _ = try? self.file.copyLog(database) }
        if self.isKept {
            // The second time, there was room for the reserve but not for both.
            if given > 0, isFirst { self.settle(database) } else { self.become(isShort: true) }
        }
        let isMore = given > 0 || isFirst
        if !isMore, !self.isKept { self.failed(failure) }
        return isMore
    }

    /// Notes a refused write that this type cannot handle.
    private func failed(_ failure: StorageFailure) {
        guard failure.isOfWriting,
            self.failure.exchange(failure.code, ordering: .relaxed) != failure.code
        else { return }
        self.report(.writesFail(code: failure.code))
    }

    private func written() {
        if self.failure.exchange(0, ordering: .relaxed) != 0 { self.report(.writesWork) }
    }

    /// Notes a commit, and the number of pages it added to the log.
    func committed(pages: Int) {
        self.failuresInARow = 0
        if pages > 0 { self.written() }
        self.pagesWritten += pages
    }

    /// Checks the disk when a check is due.
    ///
    /// - Returns: Whether requests that were refused may be executed again.
    func hasBecomeRoomy(at now: Int64) -> Bool {
        let wasShort = self.isShort
        self.lookIfDue(at: now)
        return wasShort && !self.isShort
    }

    private func lookIfDue(at now: Int64) {
        guard now >= self.lookNanoseconds || self.pagesWritten >= self.lookPages, let database else { return }
        self.lookNanoseconds = now + Self.lookEveryNanoseconds
        self.pagesWritten = 0
        if self.failure.load(ordering: .relaxed) != 0 { self.tryToWrite(database) }
        guard self.isKept else { return }
        if self.isShort {
            self.shortenLog(database)
            self.settle(database)
        } else if self.reserve.bytes < self.reserve.bytesWanted {
            self.settle(database)
        } else {
            self.copyLogInTime(database)
        }
    }

    /// Takes the reserve if there is room for enough of it; otherwise leaves all of it to deletes.
    private func settle(_ database: Database) {
        let wanted = self.reserve.bytesWanted
        defer { self.lookPages = wanted / DatabaseFile.pageBytes / (self.isShort ? 16 : 4) }
        let freeInFile = self.file.freeBytes(database)
        func isEnough(_ bytes: Int64) -> Bool { bytes >= wanted / 4 && bytes + freeInFile >= wanted / 2 }
        // For the log: its space is reused after each checkpoint.
        let room = wanted / 8
        guard isEnough(self.reserve.takeable(leaving: room)) else { return self.become(isShort: true) }
        switch self.reserve.take(leaving: room) {
        case .bytes(let bytes): self.become(isShort: !isEnough(bytes))
        case .failed(let errno):
            self.isKept = false
            self.short.store(false, ordering: .relaxed)
            self.report(.reserveFailed(path: self.reserve.path, systemError: errno))
        }
    }

    private func become(isShort: Bool) {
        if isShort { _ = self.reserve.giveBack() }
        guard self.short.exchange(isShort, ordering: .relaxed) != isShort else { return }
        self.report(isShort ? .diskFull : .diskHasRoom)
    }

    /// Rewrites a page with its own contents.
    private func tryToWrite(_ database: Database) {
        do {
            try database.execute(sql: "PRAGMA user_version = \(Migrations.formatKnown)")
            self.written()
        } catch {
            self.failed(StorageFailure(error))
        }
    }

    private func copyLogInTime(_ database: Database) {
        let growth = self.file.growth(database)
        guard growth > 0, let disk = DiskSpace(at: self.file.path), disk.free - growth < Self.plentyBytes
        else { return }
        _ = try? self.file.copyLog(database)
    }

    /// Releases unused space of the log, unless it is being read.
    ///
    /// A log below a sixteenth of the reserve is kept, since its space is reused.
    private func shortenLog(_ database: Database) {
        _ = try? self.file.copyLog(database)
        guard DatabaseFile.bytes(at: self.file.path + "-wal") > self.reserve.bytesWanted / 16,
            self.file.growth(database) == 0, let connection = database.sqliteConnection
        else { return }
        sqlite3_busy_timeout(connection, 0)
        defer { sqlite3_busy_timeout(connection, Int32(DatabaseFile.busyTimeoutSeconds * 1_000)) }
        sqlite3_wal_checkpoint_v2(connection, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
    }
}
