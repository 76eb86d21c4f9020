import EngineThreads
import Foundation
import StorageContract
import Synchronization

/// The one thread that writes: it executes what waits, one transaction after the other.
///
/// SAFETY: what is below `housekeeping` is used on the writer's thread only; the rest is immutable or
/// locked.
final class MemoryWriter: @unchecked Sendable {
    /// How long the thread waits before it looks for what others have written.
    private static let waitMillisecondsMax: Int64 = 1_000

    private let storage: MemoryStorage
    private let configuration: MemoryEngineConfiguration
    private let queue: WriteQueue
    private let observer = Mutex<(any CommitObserver)?>(nil)
    private let counted = Mutex(EngineStatistics())

    private let housekeeping: any Housekeeper
    private var memory = RuleMemory()
    private var watchedPositions: [DatabaseID: Int64] = [:]
    private var commitsSeen = -1
    /// The number of the disk's error after which nothing is written any more.
    private var loss: Int32 = 0

    init(_ storage: MemoryStorage, _ configuration: MemoryEngineConfiguration, _ queue: WriteQueue) {
        self.storage = storage
        self.configuration = configuration
        self.queue = queue
        self.housekeeping = configuration.housekeeping()
    }

    func report(to observer: any CommitObserver) { self.observer.withLock { $0 = observer } }

    var statistics: EngineStatistics {
        var statistics = self.counted.withLock { $0 }
        statistics.requestsRefused = self.queue.refusals
        return statistics
    }

    /// Works until the queue is closed and empty.
    func run() {
        var waitMilliseconds: Int64 = 0
        while let batch = self.queue.takeBatch(waitMillisecondsMax: waitMilliseconds) {
            waitMilliseconds = 0
            if let administration = batch.administration {
                self.runAdministration(administration, of: batch)
            } else if !batch.isEmpty {
                self.runBatch(batch)
            } else if !self.workAlone() {
                waitMilliseconds = Self.waitMillisecondsMax
            }
        }
    }

    /// Does some housekeeping, or looks at what others wrote; whether there was something to do.
    private func workAlone() -> Bool {
        let isNew = self.storage.commits != self.commitsSeen
        let now = self.configuration.clock()
        let state = MemoryTransaction(self.storage.contents, nowMilliseconds: now)
        // However long it could wait.
        let isWanted =
            self.housekeeping.milliseconds(
                untilStepFrom: now,
                onFullDisk: false,
                knowing: MemoryHousekeeping(state)
            ) != nil
        guard self.loss == 0, isNew || isWanted else { return false }
        let done: Void? = try? self.transaction(writes: isWanted) { transaction in
            guard isWanted else { return }
            let rows = MemoryHousekeeping(transaction)
            try self.housekeeping.step(isAlone: true, onFullDisk: false, in: rows)
        }
        // Nobody is told of it.
        _ = self.housekeeping.takeEvents()
        return done != nil
    }

    // MARK: Transactions

    /// Executes work in a transaction and commits it; without `writes` there is nothing to commit.
    ///
    /// - Throws: What the work throws, or `StorageFailure`: nothing was committed.
    private func transaction<Value>(
        writes: Bool = true,
        _ work: (MemoryTransaction) throws -> Value
    ) throws -> Value {
        guard self.loss == 0 else { throw StorageFailure.unavailable(code: self.loss) }
        self.storage.writing.lock()
        defer { self.storage.writing.unlock() }
        let observer = self.observer.withLock { $0 }
        let isNew = self.storage.commits != self.commitsSeen
        let transaction = MemoryTransaction(
            self.storage.contents,
            memory: isNew ? RuleMemory() : self.memory,
            watched: observer?.watched ?? [:],
            watchedPositions: self.watchedPositions,
            nowMilliseconds: self.configuration.clock(),
            bytesMax: self.configuration.bytesMax
        )
        // If something fails below, rules may have noted what did not happen.
        self.memory = RuleMemory()
        if isNew { try transaction.noteChangesOfOthers() }
        let value = try work(transaction)
        try transaction.writeCounters()
        if writes {
            self.loss = self.configuration.sync()
            guard self.loss == 0 else { throw StorageFailure.unavailable(code: self.loss) }
            self.commitsSeen = self.storage.commit(transaction.contents)
        } else {
            self.commitsSeen = self.storage.commits
        }
        self.memory = transaction.memory
        self.watchedPositions = transaction.watchedPositions.filter { transaction.isWatched($0.key) }
        if let report = transaction.report.committed(atMilliseconds: transaction.nowMilliseconds) {
            observer?.committed(report)
        }
        return value
    }

    private func runAdministration(
        _ administration: WaitingWrites.Administration,
        of batch: WaitingWrites.Batch
    ) {
        let start = self.queue.now
        let result = Result { try self.transaction { try administration.work($0) } }
        self.queue.executed(batch, since: start)
        switch result {
        case .success: administration.reply(nil)
        case .failure(let error): administration.reply(error)
        }
    }

    private func runBatch(_ batch: WaitingWrites.Batch) {
        var execution = BatchExecution(
            batch,
            of: self.queue,
            nowMilliseconds: self.configuration.clock(),
            // A savepoint is a copy of values.
            isolatesEach: true
        )
        guard !execution.jobs.isEmpty else { return execution.failed(.deadlinePassed) }
        do {
            try self.transaction { try execution.run(in: $0) { _ in } }
            self.counted.withLock { $0.commits += 1 }
            for end in execution.committed() { end.reply() }
        } catch {
            execution.failed(.storage(error as? StorageFailure ?? .unexpected(code: 0)))
        }
    }
}
