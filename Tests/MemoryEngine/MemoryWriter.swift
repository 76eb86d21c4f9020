import Foundation
import RecordStore
import Synchronization

/// The one thread that writes: it executes what waits, one transaction after the other.
///
/// SAFETY: `waiting` and what is below it are read and written only while the condition is locked;
/// what the thread has to itself is named below.
final class MemoryWriter: @unchecked Sendable {
    /// How long the thread waits before it looks for what others have written.
    private static let waitNanosecondsMax: Int64 = 1_000_000_000

    private let storage: MemoryStorage
    private let configuration: MemoryEngineConfiguration
    private let condition = NSCondition()
    private var waiting: WaitingWrites
    private var observer: (any CommitObserver)?
    private var counted = EngineStatistics()
    private var hasEnded = false
    private var waitingForEnd: [CheckedContinuation<Void, Never>] = []

    // The thread's own.
    private let housekeeping: Housekeeping
    private var memory = RuleMemory()
    private var watchedPositions: [DatabaseID: Int64] = [:]
    private var commitsSeen = -1
    /// The number of the disk's error after which nothing is written any more.
    private var loss: Int32 = 0

    init(_ storage: MemoryStorage, _ configuration: MemoryEngineConfiguration) {
        self.storage = storage
        self.configuration = configuration
        self.waiting = WaitingWrites(
            requestsMax: configuration.waitingRequestsMax,
            bytesMax: configuration.waitingBytesMax,
            waitNanoseconds: configuration.writerWaitNanoseconds
        )
        self.housekeeping = Housekeeping(configuration.housekeeping)
    }

    private var now: Int64 { self.configuration.monotonicNanoseconds() }

    // MARK: Asking

    func report(to observer: any CommitObserver) { self.condition.withLock { self.observer = observer } }

    var statistics: EngineStatistics { self.condition.withLock { self.counted } }

    var mayReject: Bool { self.condition.withLock { self.waiting.mayReject } }

    var figures: LoadFigures {
        self.condition.withLock {
            var figures = LoadFigures()
            (figures.requestsWaiting, figures.bytesWaiting) = (self.waiting.count, self.waiting.bytes)
            figures.reservationsGiven = self.waiting.overload.reserved
            figures.reservationsKept = self.waiting.overload.kept
            return figures
        }
    }

    func rejection(of requester: Requester, records: Int, bytes: Int) -> UInt32? {
        self.condition.withLock {
            self.waiting.rejection(of: requester, records: records, bytes: bytes, now: self.now)
        }
    }

    // MARK: Arriving

    func add(_ job: WriteJob) {
        if case .aside(let milliseconds) = job.schedule {
            let due = milliseconds > 0 ? self.now + milliseconds * 1_000_000 : .min
            return self.executeAside(job, due: due)
        }
        let decision: OverloadRule.OnArrival? = self.condition.withLock {
            guard !self.waiting.isClosed else { return nil }
            self.condition.signal()
            let decision = self.waiting.add(job, now: self.now)
            if case .refuse = decision { self.counted.requestsRefused += 1 }
            return decision
        }
        switch decision {
        case .admit?: return
        case .refuse(let milliseconds)?: job.fail(.overloaded(retryAfterMilliseconds: milliseconds))
        case nil: job.fail(.shuttingDown)
        }
    }

    private func executeAside(_ job: WriteJob, due: Int64) {
        let progress = Mutex<WriteJob.Progress?>(nil)
        let isAdmitted = self.add(
            WaitingWrites.Administration(due: due) { transaction in
                let result = try job.execute(transaction)
                progress.withLock { $0 = result }
            } reply: { error in
                if let error {
                    return job.fail(.storage(error as? StorageFailure ?? .unexpected(code: 0)))
                }
                switch progress.withLock({ $0 }) {
                case .finished(let reply)?: reply()
                case .unfinished(let rest)?: self.executeAside(rest, due: .min)
                case nil: job.fail(.storage(.unexpected(code: 0)))
                }
            }
        )
        if !isAdmitted { job.fail(.shuttingDown) }
    }

    /// Blocks the caller until the work is done.
    func administer(_ work: @escaping @Sendable (any WriteTransaction) throws -> Void) throws {
        let end = NSCondition()
        let result = Mutex<Result<Void, any Error>?>(nil)
        let isAdmitted = self.add(
            WaitingWrites.Administration(work: work) { error in
                end.withLock {
                    result.withLock { $0 = error.map { .failure($0) } ?? .success(()) }
                    end.signal()
                }
            }
        )
        guard isAdmitted else { throw StorageFailure.unavailable(code: 0) }
        try end.withLock {
            while true {
                if let result = result.withLock({ $0 }) { return try result.get() }
                end.wait()
            }
        }
    }

    private func add(_ administration: WaitingWrites.Administration) -> Bool {
        self.condition.withLock {
            guard !self.waiting.isClosed else { return false }
            self.waiting.add(administration, now: self.now)
            self.condition.signal()
            return true
        }
    }

    // MARK: The thread

    func start() {
        Thread(block: {
            while let batch = self.take() {
                if let administration = batch.administration {
                    self.execute(administration, of: batch)
                } else if !batch.isEmpty {
                    self.execute(batch)
                }
            }
            self.end()
        }).start()
    }

    func close() {
        self.condition.withLock {
            self.waiting.close()
            self.condition.signal()
        }
    }

    private func end() {
        let waiting = self.condition.withLock {
            self.hasEnded = true
            defer { self.waitingForEnd = [] }
            return self.waitingForEnd
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Returns when the thread has come to its end.
    func ended() async {
        await withCheckedContinuation { continuation in
            let isOver = self.condition.withLock {
                if !self.hasEnded { self.waitingForEnd.append(continuation) }
                return self.hasEnded
            }
            if isOver { continuation.resume() }
        }
    }

    /// What is next, after what can be done aside; `nil` when nothing is left and nothing more may come.
    private func take() -> WaitingWrites.Batch? {
        while true {
            let batch: WaitingWrites.Batch?? = self.condition.withLock {
                self.waiting.timePassed(now: self.now)
                guard self.waiting.isEmpty else {
                    return self.waiting.takeBatch(
                        recordsMax: self.configuration.commitRecordsMax,
                        bytesMax: self.configuration.commitBytesMax,
                        now: self.now
                    )
                }
                return self.waiting.isClosed ? .some(nil) : nil
            }
            if let batch { return batch }
            if !self.workAlone() { self.waitForSomething() }
        }
    }

    private func waitForSomething() {
        self.condition.withLock {
            guard self.waiting.isEmpty, !self.waiting.isClosed else { return }
            let nanoseconds = self.waiting.nanoseconds(upTo: Self.waitNanosecondsMax, now: self.now)
            _ = self.condition.wait(until: Date(timeIntervalSinceNow: Double(nanoseconds) / 1_000_000_000))
        }
    }

    /// Does some housekeeping, or looks at what others wrote; whether there was something to do.
    private func workAlone() -> Bool {
        let isNews = self.storage.commits != self.commitsSeen
        let now = self.configuration.clock()
        let state = MemoryTransaction(self.storage.contents, nowMilliseconds: now)
        // However long it could wait.
        let isWanted =
            self.housekeeping.milliseconds(
                untilStepFrom: now,
                onFullDisk: false,
                in: MemoryHousekeeping(state)
            ) != nil
        guard self.loss == 0, isNews || isWanted else { return false }
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
        let observer = self.condition.withLock { self.observer }
        let isNews = self.storage.commits != self.commitsSeen
        let transaction = MemoryTransaction(
            self.storage.contents,
            memory: isNews ? RuleMemory() : self.memory,
            watched: observer?.watched ?? [:],
            watchedPositions: self.watchedPositions,
            nowMilliseconds: self.configuration.clock()
        )
        // If something fails below, rules may have noted what did not happen.
        self.memory = RuleMemory()
        if isNews { try transaction.noteChangesOfOthers() }
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

    private func execute(
        _ administration: WaitingWrites.Administration,
        of batch: WaitingWrites.Batch
    ) {
        let start = self.now
        let result = Result { try self.transaction { try administration.work($0) } }
        self.executed(batch, since: start, [])
        switch result {
        case .success: administration.reply(nil)
        case .failure(let error): administration.reply(error)
        }
    }

    private func executed(
        _ batch: WaitingWrites.Batch,
        since start: Int64,
        _ excesses: [WaitingWrites.Excess]
    ) {
        let end = self.now
        self.condition.withLock {
            self.waiting.executed(batch, nanoseconds: end - start, now: end, excesses: excesses)
        }
    }

    /// What came of a batch.
    private struct Executed {
        var replies: [@Sendable () -> Void] = []
        var excesses: [WaitingWrites.Excess] = []
        var unfinished: (job: WriteJob, rest: WriteJob, work: Int)?
        /// How many jobs were looked at.
        var count = 0
    }

    private func execute(_ batch: WaitingWrites.Batch) {
        var batch = batch
        let start = self.now
        let time = self.configuration.clock()
        let jobs = batch.jobs.filter { $0.deadlineMilliseconds >= time }
        for job in batch.jobs where job.deadlineMilliseconds < time { job.fail(.deadlinePassed) }
        guard !jobs.isEmpty else { return self.executed(batch, since: start, []) }
        do {
            let executed = try self.transaction { try self.execute(jobs, in: $0) }
            self.condition.withLock {
                self.counted.commits += 1
                self.waiting.putBack(jobs[executed.count...], of: &batch)
                if let (job, rest, work) = executed.unfinished {
                    self.waiting.putBack(rest, of: job, work: work)
                }
            }
            self.executed(batch, since: start, executed.excesses)
            for reply in executed.replies { reply() }
        } catch {
            self.executed(batch, since: start, [])
            let failure = error as? StorageFailure ?? .unexpected(code: 0)
            for job in jobs { job.fail(.storage(failure)) }
        }
    }

    /// Executes jobs until one of them has something left; one that fails is taken back alone.
    private func execute(_ jobs: [WriteJob], in transaction: MemoryTransaction) throws -> Executed {
        var executed = Executed()
        for job in jobs where executed.unfinished == nil {
            executed.count += 1
            let before = transaction.workDone
            var workFailed: Int?
            let savepoint = transaction.savepoint
            transaction.origin = job.origin
            do throws(StorageFailure) {
                let progress = try job.execute(transaction)
                if !job.makesRoom, let most = self.configuration.bytesMax, transaction.bytesStored() > most {
                    transaction.takeBack(to: savepoint)
                    executed.replies.append { job.fail(.diskFull) }
                    continue
                }
                switch progress {
                case .finished(let reply): executed.replies.append(reply)
                case .unfinished(let rest):
                    executed.unfinished = (job, rest, transaction.workDone - before)
                    continue
                }
            } catch {
                workFailed = error.work(metered: transaction.workDone - before)
                transaction.takeBack(to: savepoint)
                executed.replies.append { job.fail(.storage(error)) }
            }
            if let excess = job.excess(of: workFailed ?? transaction.workDone - before) {
                executed.excesses.append(excess)
            }
        }
        return executed
    }
}
