import EngineThreads
import GRDB
import RecordStore

/// Copies the log into the file while nobody writes.
///
/// SQLite looks for a page of the log in a table for each 4,096 of the log's pages, and then reads
/// it with a system call. A page of the file is mapped into memory. So reads are cheaper when the
/// log is empty, and so is the next start. `CheckpointPace` says when a copy is worth it.
///
/// It has a thread and a connection of its own, and no lock that a writer or a reader waits for.
/// Writes meanwhile add to the log, and what they add is left for the next time. A reader whose snapshot
/// is older keeps the pages behind it from being copied: they are tried again, every second for a while.
///
/// The log keeps what was deleted until it is written over. So once in a while it is made empty.
///
/// SAFETY: the variables are read and written only while the condition is locked; the connection is
/// used by the thread alone.
final class IdleCheckpoint: @unchecked Sendable {
    private let condition = ThreadCondition()
    private var isWanted = false
    private var isClosed = false
    /// How often to try again what an older snapshot kept from being copied.
    private var triesLeft = 0
    private static let triesMax = 10
    private static let retryNanoseconds: Int64 = 1_000_000_000
    /// When to make the log empty; `nil` if nothing has been written since that was done.
    private var emptyDue: Int64?
    private let emptyIntervalNanoseconds: Int64
    private let emptyRetryNanoseconds: Int64
    /// Whether to empty the log at the end.
    private var emptiesLog = false
    private let connection: DatabaseQueue
    private let file: DatabaseFile
    private let report: @Sendable (EngineEvent) -> Void
    private let shutdown = ShutdownLatch()

    init(
        file: DatabaseFile,
        emptyIntervalSeconds: Int64,
        report: @escaping @Sendable (EngineEvent) -> Void
    ) throws {
        self.emptyIntervalNanoseconds = emptyIntervalSeconds * 1_000_000_000
        self.emptyRetryNanoseconds = min(max(emptyIntervalSeconds, 1), 60) * 1_000_000_000
        // An earlier process may have left a log.
        self.emptyDue = MonotonicTime.nanoseconds() + self.emptyIntervalNanoseconds
        self.connection = try file.openCheckpointer()
        self.file = file
        self.report = report
        EngineThread.start("tidemark-copy") { [self] in
            while self.isWantedNow() {
                let isWhole = self.copy()
                self.condition.withLock { self.triesLeft = isWhole ? 0 : self.triesLeft - 1 }
                self.emptyLogIfDue(isCopied: isWhole)
            }
            if self.condition.withLock({ self.emptiesLog }) { self.emptyLog() }
            try? self.connection.close()
            self.shutdown.happened()
        }
    }

    /// Asks for a copy, once however often it is asked for.
    func want() {
        self.condition.withLock {
            self.isWanted = true
            self.triesLeft = Self.triesMax
            if self.emptyDue == nil {
                self.emptyDue = MonotonicTime.nanoseconds() + self.emptyIntervalNanoseconds
            }
            self.condition.signal()
        }
    }

    /// Lets a copy end that has begun.
    ///
    /// - Parameter emptiesLog: Whether the next start finds no log. Nobody may write any more.
    func close(emptiesLog: Bool = false) {
        self.condition.withLock {
            guard !self.isClosed else { return }
            self.isClosed = true
            self.emptiesLog = emptiesLog
            self.condition.signal()
        }
    }

    /// Returns when the connection is closed.
    func ended() async { await self.shutdown.wait() }

    /// Waits; false: no more.
    private func isWantedNow() -> Bool {
        self.condition.withLock {
            if !self.isWanted, self.triesLeft > 0, self.triesLeft < Self.triesMax {
                let retry = MonotonicTime.nanoseconds() + Self.retryNanoseconds
                while !self.isWanted, !self.isClosed, self.condition.wait(until: retry) {}
                self.isWanted = true
            }
            while !self.isWanted, !self.isClosed {
                guard let due = self.emptyDue else {
                    self.condition.wait()
                    continue
                }
                if !self.condition.wait(until: due) { self.isWanted = true }
            }
            self.isWanted = false
            return !self.isClosed
        }
    }

    /// Returns whether nothing is left to copy, or another attempt makes no sense.
    private func copy() -> Bool {
        do {
            return try self.connection.writeWithoutTransaction { try self.file.copyLog($0) }
        } catch DatabaseError.SQLITE_BUSY {
            // The writer is copying it.
            return false
        } catch {
            self.report(.housekeepingFailed(code: StorageFailure(error).code))
            return true
        }
    }

    private func emptyLogIfDue(isCopied: Bool) {
        let now = MonotonicTime.nanoseconds()
        guard self.condition.withLock({ self.emptyDue.map { $0 <= now } ?? false }) else { return }
        let isEmpty = isCopied && self.emptyLog()
        self.condition.withLock { self.emptyDue = isEmpty ? nil : now + self.emptyRetryNanoseconds }
    }

    /// Copies the rest and makes the log empty, unless somebody reads from it, such as a backup.
    ///
    /// - Returns: Whether it is empty.
    @discardableResult
    private func emptyLog() -> Bool {
        (try? self.connection.writeWithoutTransaction { try self.file.emptyLog($0) }) ?? false
    }
}
