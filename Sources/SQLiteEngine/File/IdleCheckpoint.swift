import EngineThreads
import Foundation
import GRDB
import RecordStore

/// Copies the log into the file while nobody writes.
///
/// SQLite looks for a page of the log in a table for each 4,096 of the log's pages, and then reads
/// it with a system call. A page of the file is mapped into memory. So reads are cheaper when the
/// log is empty, and so is the next start. Under a steady load the writer copies the log itself,
/// when it has grown to its bound.
///
/// It has a thread and a connection of its own, and no lock that a writer or a reader waits for.
/// Writes meanwhile add to the log, and what they add is left for the next time.
///
/// SAFETY: the variables are read and written only while the condition is locked; the connection is
/// used by the thread alone.
final class IdleCheckpoint: @unchecked Sendable {
    private let condition = NSCondition()
    private var isWanted = false
    private var isClosed = false
    private let connection: DatabaseQueue
    private let file: DatabaseFile
    private let report: @Sendable (EngineEvent) -> Void
    private let shutdown = ShutdownLatch()

    init(file: DatabaseFile, report: @escaping @Sendable (EngineEvent) -> Void) throws {
        self.connection = try file.openCheckpointer()
        self.file = file
        self.report = report
        EngineThread.start("tidemark-copy") { [self] in
            while self.isWantedNow() { self.copy() }
            try? self.connection.close()
            self.shutdown.happened()
        }
    }

    /// Asks for a copy, once however often it is asked for.
    func want() {
        self.condition.withLock {
            self.isWanted = true
            self.condition.signal()
        }
    }

    /// Lets a copy end that has begun.
    func close() {
        self.condition.withLock {
            self.isClosed = true
            self.condition.signal()
        }
    }

    /// Returns when the connection is closed.
    func ended() async { await self.shutdown.wait() }

    /// Waits; false: no more.
    private func isWantedNow() -> Bool {
        self.condition.withLock {
            while !self.isWanted, !self.isClosed { self.condition.wait() }
            self.isWanted = false
            return !self.isClosed
        }
    }

    private func copy() {
        do {
            try self.connection.writeWithoutTransaction { try self.file.copyLog($0) }
        } catch DatabaseError.SQLITE_BUSY {
            // The writer is copying it.
        } catch {
            self.report(.housekeepingFailed(code: StorageFailure(error).code))
        }
    }
}
