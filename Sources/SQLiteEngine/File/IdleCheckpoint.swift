import EngineThreads
import GRDB
import StorageContract

/// Checkpoints the log while no job writes.
///
/// To find a page in the log, SQLite searches a table for each 4,096 of its pages, then reads it
/// with a system call. A page of the file is mapped into memory. So an empty log makes reads and
/// the next start cheaper. `CheckpointPace` decides when a checkpoint is worth it.
///
/// It has a thread and a connection of its own, and no lock that a writer or a reader waits for.
/// Concurrent writes stay in the log for the next checkpoint. A reader with an older snapshot
/// prevents later pages from being copied: they are retried every second for a while.
///
/// Deleted data stays in the log until it is overwritten, so the log is emptied at intervals.
///
/// SAFETY: the variables are read and written only while the condition is locked; the connection is
/// used by the thread alone.
final class IdleCheckpoint: @unchecked Sendable {
    private let condition = ThreadCondition()
    private var isWanted = false
    private var isClosed = false
    /// Remaining attempts at pages that an older snapshot kept from being copied.
    private var triesLeft = 0
    private static let triesMax = 10
    private static let retryNanoseconds: Int64 = 1_000_000_000
    /// When to empty the log; `nil` if nothing was written since the last time.
    private var emptyDue: Int64?
    private let emptyIntervalNanoseconds: Int64
    private let emptyRetryNanoseconds: Int64
    /// Whether to empty the log at shutdown.
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

    /// Requests a checkpoint; repeated requests count once.
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

    /// Ends after the current checkpoint.
    ///
    /// - Parameter emptiesLog: Whether to leave no log to the next start. No connection may write
    ///   any more.
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

    /// Waits for a request; `false` after `close`.
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

    /// Returns whether the log is fully checkpointed, or another attempt is useless.
    private func copy() -> Bool {
        do {
            return try self.connection.writeWithoutTransaction { try self.file.copyLog($0) }
        } catch DatabaseError.SQLITE_BUSY {
            // The writer is checkpointing.
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

    /// Checkpoints the rest and empties the log, unless it is being read, as by a backup.
    ///
    /// - Returns: Whether it is empty.
    @discardableResult
    private func emptyLog() -> Bool {
        (try? self.connection.writeWithoutTransaction { try self.file.emptyLog($0) }) ?? false
    }
}
