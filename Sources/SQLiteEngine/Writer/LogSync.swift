import EngineThreads
import Foundation
import StorageContract
import Synchronization

/// Syncs the log to disk before commits are acknowledged.
///
///     writer   execute 1, COMMIT | execute 2, COMMIT            | execute 3 …
///     here                       | sync 1, replies | reads of 1 | sync 2, replies …
///
/// SQLite appends a commit to its log and does not sync it (`synchronous=NORMAL`). This type does,
/// on a thread of its own, while the writer executes the next requests. A commit is visible to
/// readers before it is on disk, so no read of its database replies earlier. So every acknowledged
/// change survives a loss of power.
///
/// One commit is being synced and one more may be queued; then the writer waits. Replies are called
/// in the order of commits, by the thread that synced.
///
/// After a failed sync it is unknown which part of the log is on disk, and the system may report
/// success the next time. So the failure is final: all queued and later requests are refused until
/// a new process has read the log.
///
/// SAFETY: the state is read and written only while the condition is locked; the descriptor is
/// opened once, before the thread starts, and closed by its last user.
final class LogSync: @unchecked Sendable {
    /// Called when a commit is on disk, or cannot be.
    typealias Reply = @Sendable (StorageFailure?) -> Void

    /// Commits are numbered in their order, from 1.
    private typealias CommitNumber = UInt64

    /// An announced commit.
    struct Announced {
        fileprivate let number: UInt64
        fileprivate let databases: [DatabaseID]
        /// Where the log ends after the commit; `nil` if that is not to be noted.
        var end: SyncedEnd?
    }

    private struct Commit {
        let announced: Announced
        /// Whether it wrote anything.
        var isPresent = true
        let reply: Reply
    }

    private struct Read {
        let commit: CommitNumber
        let reply: Reply
    }

    private struct State {
        var announced: CommitNumber = 0
        var synced: CommitNumber = 0
        /// The last unsynced commit of each database that has one.
        var unsynced: [DatabaseID: CommitNumber] = [:]
        var waiting: Commit?
        var isSyncing = false
        var reads: [Read] = []
        var loss: StorageFailure?
        var isClosed = false
    }

    private let condition = ThreadCondition()
    private var state = State()
    /// Commits that are announced and not synced: if 0, reads skip the lock.
    private let unsyncedCount = Atomic<Int>(0)
    private let sync: @Sendable () -> Int32
    private let note: @Sendable (SyncedEnd) -> Void
    private let report: @Sendable (EngineEvent) -> Void
    private let ending = Rendezvous<Void>()

    /// Starts the thread.
    ///
    /// `sync` syncs the log, and returns 0 or the number of the system's error. `note` is called
    /// afterwards, one call at a time.
    init(
        sync: @escaping @Sendable () -> Int32,
        note: @escaping @Sendable (SyncedEnd) -> Void = { _ in },
        report: @escaping @Sendable (EngineEvent) -> Void
    ) {
        self.sync = sync
        self.note = note
        self.report = report
        EngineThread.start("tidemark-sync") { [self] in
            while let commit = self.next() { self.finish(commit) }
            self.ending.fill(())
        }
    }

    /// Announces that a commit of these databases is about to become visible.
    func willCommit(_ databases: [DatabaseID]) -> Announced {
        self.unsyncedCount.add(1, ordering: .sequentiallyConsistent)
        return self.condition.withLock {
            self.state.announced += 1
            for database in databases { self.state.unsynced[database] = self.state.announced }
            return Announced(number: self.state.announced, databases: databases)
        }
    }

    /// Syncs a commit and calls its reply.
    ///
    /// With `isAlone`, no job waits for the writer. The writer's thread then syncs itself, which
    /// saves a thread switch.
    func committed(_ announced: Announced, isAlone: Bool, reply: @escaping Reply) {
        self.add(Commit(announced: announced, reply: reply), isAlone: isAlone)
    }

    /// Forgets an announced commit that was not made.
    func abandoned(_ announced: Announced) {
        self.add(Commit(announced: announced, isPresent: false) { _ in }, isAlone: true)
    }

    /// Whether a sync has failed, so that nothing can become durable.
    var isLost: Bool { self.loss() != nil }

    private func add(_ commit: Commit, isAlone: Bool) {
        let isOurs = self.condition.withLock {
            while self.state.waiting != nil { self.condition.wait() }
            if isAlone, !self.state.isSyncing {
                self.state.isSyncing = true
                return true
            }
            self.state.waiting = commit
            self.condition.broadcast()
            return false
        }
        if isOurs { self.finish(commit) }
    }

    /// Whether every visible commit is on disk.
    var isIdle: Bool { self.unsyncedCount.load(ordering: .sequentiallyConsistent) == 0 }

    /// Calls the reply of a read of one or several databases when everything it may have seen is on
    /// disk.
    ///
    /// Mostly that is at once.
    func whenSynced(_ database: DatabaseID?, reply: @escaping Reply) {
        // A commit is announced before it is visible, so a reader that has seen one finds it
        // counted.
        guard !self.isIdle else { return reply(nil) }
        let isNow: Bool
        let loss: StorageFailure?
        (isNow, loss) = self.condition.withLock {
            let last = database.map { self.state.unsynced[$0] } ?? self.state.announced
            guard self.state.loss == nil, let number = last, number > self.state.synced
            else { return (true, self.state.loss) }
            self.state.reads.append(Read(commit: number, reply: reply))
            return (false, nil)
        }
        if isNow { reply(loss) }
    }

    /// Lets the thread finish queued commits and end; nothing may be committed afterwards.
    func close() {
        self.condition.withLock {
            self.state.isClosed = true
            self.condition.broadcast()
        }
        self.ending.wait()
    }

    /// Waits for a commit; returns `nil` at shutdown.
    private func next() -> Commit? {
        self.condition.withLock {
            while self.state.waiting == nil || self.state.isSyncing {
                if self.state.isClosed, self.state.waiting == nil { return nil }
                self.condition.wait()
            }
            self.state.isSyncing = true
            defer { self.state.waiting = nil }
            self.condition.broadcast()
            return self.state.waiting
        }
    }

    /// Syncs and replies, on either thread; no other sync runs meanwhile.
    private func finish(_ commit: Commit) {
        let loss = self.loss() ?? (commit.isPresent ? self.failure(of: self.sync()) : nil)
        // Before the reply, so that the note has every commit that was acknowledged.
        if loss == nil, let end = commit.announced.end { self.note(end) }
        let reads = self.condition.withLock { self.finished(commit.announced, loss: loss) }
        commit.reply(loss)
        for read in reads { read.reply(loss) }
        self.condition.withLock {
            self.state.isSyncing = false
            self.condition.broadcast()
        }
    }

    /// Returns the reads that waited for it.
    private func finished(_ commit: Announced, loss: StorageFailure?) -> [Read] {
        if let loss {
            // Nothing counts as synced any more, so that every read finds the loss.
            self.state.loss = loss
            defer { self.state.reads = [] }
            return self.state.reads
        }
        self.unsyncedCount.subtract(1, ordering: .sequentiallyConsistent)
        self.state.synced = commit.number
        for database in commit.databases where self.state.unsynced[database] == commit.number {
            self.state.unsynced[database] = nil
        }
        guard !self.state.reads.isEmpty else { return [] }
        let reads = self.state.reads.filter { $0.commit <= commit.number }
        self.state.reads.removeAll { $0.commit <= commit.number }
        return reads
    }

    private func loss() -> StorageFailure? { self.condition.withLock { self.state.loss } }

    private func failure(of code: Int32) -> StorageFailure? {
        guard code != 0 else { return nil }
        self.report(.logLost(systemError: code))
        return .unavailable(code: code)
    }
}

extension LogSync {
    /// Syncs the log of a file, and reports the duration to the queue.
    ///
    /// Without durability it does nothing.
    convenience init(
        file: DatabaseFile,
        configuration: SQLiteEngineConfiguration,
        queue: WriteQueue,
        report: @escaping @Sendable (EngineEvent) -> Void
    ) throws {
        guard configuration.durability == .full else {
            // Nothing is synced, so there is nothing to compare with.
            unlink(SyncedNote.path(of: file.path))
            self.init(sync: { 0 }, report: report)
            return
        }
        let note = try SyncedNote(of: file.path)
        let log = try file.openLog()
        self.init(
            sync: {
                let start = queue.now
                defer { queue.synced(nanoseconds: queue.now - start) }
                return configuration.syncFile(log.fileDescriptor)
            },
            note: { note.write($0) },
            report: report
        )
    }
}
