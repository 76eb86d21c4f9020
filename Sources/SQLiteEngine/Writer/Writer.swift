import EngineThreads
import Foundation
import GRDB
import RecordModel
import RecordStore
import Synchronization

/// The one thread that writes.
///
/// It takes everything that waits, executes it in one transaction, and leaves it to `LogSync` to
/// reply when the transaction is on disk. Meanwhile it executes the next.
///
/// A request that fails half-way for a reason of ours takes back the transaction. That is then
/// executed again with each request in a savepoint, so that this one is taken back alone. One that
/// exceeds a bound of work is left out then. A disk that is full or fails takes back all.
///
/// SAFETY: `checkpointPace`, `transaction` and `database` are used on the writer's thread only; the
/// rest is immutable or locked.
final class Writer: @unchecked Sendable {
    private let queue: WriteQueue
    private let configuration: SQLiteEngineConfiguration
    private let clock: @Sendable () -> Int64
    private let report: @Sendable (EngineEvent) -> Void
    private let statistics = Mutex(EngineStatistics())
    private let checkpoint: IdleCheckpoint
    private let room: DiskRoom
    private let reachability: Reachability
    private let sync: LogSync
    private var checkpointPace: CheckpointPace

    /// How long the writer waits for jobs before it looks whether another process wrote.
    private static let waitMillisecondsMax: Int64 = 1_000

    init(
        queue: WriteQueue,
        configuration: SQLiteEngineConfiguration,
        checkpoint: IdleCheckpoint,
        room: DiskRoom,
        reachability: Reachability,
        sync: LogSync,
        clock: @escaping @Sendable () -> Int64,
        report: @escaping @Sendable (EngineEvent) -> Void
    ) {
        self.queue = queue
        self.checkpoint = checkpoint
        self.room = room
        self.reachability = reachability
        self.sync = sync
        self.configuration = configuration
        self.clock = clock
        self.report = report
        self.checkpointPace = CheckpointPace(nowMilliseconds: clock())
    }

    var counted: EngineStatistics { self.statistics.withLock { $0 } }

    func countRefusal() { self.statistics.withLock { $0.requestsRefused += 1 } }

    /// Works until the queue is closed and empty.
    func run(_ transaction: WriterTransaction, _ housekeeping: WriterHousekeeping, _ database: Database) {
        self.room.start(database)
        // While there are no jobs; `nil` if no work is known of.
        var untilHousekeeping: Int64? = 0
        while let batch = self.queue.takeBatch(
            recordsMax: self.configuration.commitRecordsMax,
            bytesMax: self.configuration.commitBytesMax,
            waitMillisecondsMax: untilHousekeeping ?? Self.waitMillisecondsMax
        ) {
            // What has waited for room is nobody's to ask for.
            if self.room.hasBecomeRoomy(at: self.queue.now) { untilHousekeeping = 0 }
            if batch.isEmpty {
                untilHousekeeping = self.workAlone(housekeeping, transaction, after: untilHousekeeping)
                continue
            }
            untilHousekeeping = 0
            if let administration = batch.administration {
                self.execute(administration, batch, transaction)
            } else {
                self.execute(batch, transaction, housekeeping)
            }
        }
        self.sync.close()
        self.checkpoint.close(emptiesLog: self.checkpointPace.isShort)
    }

    private struct Committed {
        var finished: [FinishedJob]
        var announced: LogSync.Announced
        var unfinished: Unfinished?
        /// What jobs took beyond what their sizes said.
        var excesses: [WaitingWrites.Excess]
        /// How many were looked at.
        var executed: Int
    }

    /// Executed in part: what came behind it was not executed.
    private struct Unfinished {
        let job: WriteJob
        let rest: WriteJob
        /// What the part took.
        let work: Int
    }

    /// The reply of a job, which is called when its commit is durable.
    private struct FinishedJob {
        let job: WriteJob
        let reply: @Sendable () -> Void
    }

    /// The result of an execution of a job.
    private enum Execution {
        case finished(@Sendable () -> Void)
        case unfinished(job: WriteJob, rest: WriteJob)
    }

    private func execute(
        _ batch: WaitingWrites.Batch,
        _ transaction: WriterTransaction,
        _ housekeeping: WriterHousekeeping
    ) {
        let start = self.queue.now
        let now = self.clock()
        let works = batch.jobs.filter { job in
            guard job.deadlineMilliseconds < now else { return true }
            job.fail(.deadlinePassed)
            return false
        }
        guard !works.isEmpty, !self.sync.isLost else {
            self.queue.executed(batch, since: start)
            for work in works { work.fail(Self.lost) }
            return
        }
        self.execute(works, of: batch, since: start, now, transaction, housekeeping)
    }

    /// Executes what there is room for; the rest is refused.
    private func execute(
        _ jobs: [WriteJob],
        of batch: WaitingWrites.Batch,
        since start: Int64,
        _ now: Int64,
        _ transaction: WriterTransaction,
        _ housekeeping: WriterHousekeeping
    ) {
        let works = self.room.isShort ? self.refuseWhatTakesRoom(jobs) : jobs
        guard !works.isEmpty else { return self.queue.executed(batch, since: start) }
        do {
            let committed = try self.commit(works, nowMilliseconds: now, transaction, housekeeping)
            var batch = batch
            self.queue.putBack(works[committed.executed...], of: &batch)
            if let unfinished = committed.unfinished {
                self.queue.putBack(unfinished.rest, of: unfinished.job, work: unfinished.work)
            }
            self.queue.executed(batch, since: start, excesses: committed.excesses)
            let finished = committed.finished
            self.finish(committed.announced, transaction, isAlone: self.queue.isEmpty) { loss in
                for end in finished {
                    if loss == nil { end.reply() } else { end.job.fail(Self.lost) }
                }
            }
        } catch {
            transaction.rollback()
            if self.room.make(after: error) {
                return self.execute(works, of: batch, since: start, now, transaction, housekeeping)
            }
            self.queue.executed(batch, since: start)
            if error.isOfWriting {
                // The room has told of what the disk refused.
                self.report(.changesRefused(works.count))
            } else {
                self.reachability.failed(.writes)
                for _ in works { self.report(.storageUnavailable(code: error.code)) }
            }
            let failure = error.isForWantOfRoom ? JobFailure.diskFull : .storage(error)
            for work in works { work.fail(failure) }
        }
    }

    private func refuseWhatTakesRoom(_ jobs: [WriteJob]) -> [WriteJob] {
        let refused = jobs.filter { !self.room.admits($0) }
        guard !refused.isEmpty else { return jobs }
        self.report(.changesRefused(refused.count))
        for job in refused { job.fail(.diskFull) }
        return jobs.filter { self.room.admits($0) }
    }

    /// Nothing can be made durable any more, in this process.
    private static let lost = JobFailure.storage(.unavailable(code: ResultCode.SQLITE_IOERR_FSYNC.rawValue))

    /// Tells those who watch what the last commit changed, and calls its reply, when it is on disk.
    private func finish(
        _ announced: LogSync.Announced,
        _ transaction: WriterTransaction,
        isAlone: Bool,
        reply: @escaping LogSync.Reply = { _ in }
    ) {
        let pages = transaction.takePagesWritten()
        self.checkpointPace.wrote(pages: pages)
        self.room.committed(pages: pages)
        self.reachability.worked(.writes)
        let changes = transaction.reports.takeCommitted()
        let observation = transaction.reports.observation
        self.sync.committed(announced, isAlone: isAlone) { loss in
            if loss == nil, let changes { observation.committed(changes) }
            reply(loss)
        }
    }

    /// - Throws: When nothing of the transaction can be written.
    private func commit(
        _ works: [WriteJob],
        nowMilliseconds now: Int64,
        _ transaction: WriterTransaction,
        _ housekeeping: WriterHousekeeping
    ) throws(StorageFailure) -> Committed {
        var exceeding: WaitingWrites.Exceeding?
        do throws(StorageFailure) {
            // SQLite copies each page that a savepoint touches: all pay for it only when one is needed.
            return try self.commit(
                works,
                inSavepoints: false,
                &exceeding,
                nowMilliseconds: now,
                transaction,
                housekeeping
            )
        } catch {
            if case .unavailable = error { throw error }
            transaction.rollback()
            return try self.commit(
                works,
                inSavepoints: true,
                &exceeding,
                nowMilliseconds: now,
                transaction,
                housekeeping
            )
        }
    }

    private func commit(
        _ works: [WriteJob],
        inSavepoints: Bool,
        _ exceeding: inout WaitingWrites.Exceeding?,
        nowMilliseconds now: Int64,
        _ transaction: WriterTransaction,
        _ housekeeping: WriterHousekeeping
    ) throws(StorageFailure) -> Committed {
        var finished: [FinishedJob] = []
        finished.reserveCapacity(works.count)
        var unfinished: Unfinished?
        var excesses: [WaitingWrites.Excess] = []
        var executed = 0
        try transaction.begin(nowMilliseconds: now)
        for (offset, work) in works.enumerated() where unfinished == nil {
            executed += 1
            if let known = exceeding, known.offset == offset {
                finished.append(FinishedJob(job: work) { work.fail(.storage(known.failure)) })
                if let excess = work.excess(of: known.work) { excesses.append(excess) }
                continue
            }
            let before = transaction.meter.done
            let execution: Execution
            do throws(StorageFailure) {
                execution =
                    inSavepoints
                    ? try self.executeInSavepoint(work, transaction) : try Self.execute(work, transaction)
            } catch {
                exceeding = .init(offset: offset, error, metered: transaction.meter.done - before)
                throw error
            }
            switch execution {
            case .finished(let reply):
                finished.append(FinishedJob(job: work, reply: reply))
            case .unfinished(let job, let rest):
                unfinished = Unfinished(job: job, rest: rest, work: transaction.meter.done - before)
                continue
            }
            if let excess = work.excess(of: transaction.meter.done - before) { excesses.append(excess) }
        }
        self.keepHouse(housekeeping, transaction)
        let announced = try transaction.commit(self.sync)
        for event in housekeeping.takeEvents() { self.report(event) }
        self.statistics.withLock { $0.commits += 1 }
        return Committed(
            finished: finished,
            announced: announced,
            unfinished: unfinished,
            excesses: excesses,
            executed: executed
        )
    }

    /// Does some housekeeping beside requests.
    private func keepHouse(_ housekeeping: WriterHousekeeping, _ transaction: WriterTransaction) {
        do throws(StorageFailure) {
            try transaction.isolated { () throws(StorageFailure) in
                transaction.origin = nil
                try housekeeping.step(isAlone: false, onFullDisk: self.room.isShort)
            }
        } catch {
            // It must not stand in the way of requests; what did not fit now is tried again.
            self.report(.housekeepingFailed(code: error.code))
        }
    }

    private static func execute(
        _ job: WriteJob,
        _ transaction: WriterTransaction
    ) throws(StorageFailure) -> Execution {
        transaction.origin = job.origin
        switch try job.execute(transaction) {
        case .finished(let reply): return .finished(reply)
        case .unfinished(let rest): return .unfinished(job: job, rest: rest)
        }
    }

    /// A job that fails by itself is taken back alone, and leaves its neighbours as they are.
    ///
    /// - Throws: When nothing can be written now, whatever the job.
    private func executeInSavepoint(
        _ job: WriteJob,
        _ transaction: WriterTransaction
    ) throws(StorageFailure) -> Execution {
        let before = transaction.meter.done
        do throws(StorageFailure) {
            return try transaction.isolated { () throws(StorageFailure) in
                try Self.execute(job, transaction)
            }
        } catch {
            switch error {
            case .unavailable: throw error
            case .unexpected(let code): self.report(.requestFaulted(code: code))
            case .conflict, .outcomeUnknown, .exceeds: break
            }
            transaction.meter.done = before + error.work(metered: transaction.meter.done - before)
            return .finished { job.fail(.storage(error)) }
        }
    }

    private func execute(
        _ administration: WaitingWrites.Administration,
        _ batch: WaitingWrites.Batch,
        _ transaction: WriterTransaction
    ) {
        let start = self.queue.now
        do {
            try transaction.begin(nowMilliseconds: self.clock())
            try administration.work(transaction)
            let announced = try transaction.commit(self.sync)
            self.queue.executed(batch, since: start)
            transaction.work.mayBeIndexes = true
            self.finish(announced, transaction, isAlone: self.queue.isEmpty) { administration.reply($0) }
        } catch {
            transaction.rollback()
            if self.room.make(after: StorageFailure(error)) {
                return self.execute(administration, batch, transaction)
            }
            self.queue.executed(batch, since: start)
            administration.reply(error)
        }
    }

    /// Has the log copied into the file if that is worth it while nobody waits.
    private func checkpointIfWorthwhile(afterIdleSecond isIdle: Bool, nowMilliseconds now: Int64) {
        guard self.checkpointPace.isDue(afterIdleSecond: isIdle, nowMilliseconds: now) else { return }
        self.checkpoint.want()
    }

    /// Does more housekeeping while nobody waits.
    ///
    /// Nobody has come for the time that the call before asked for. After 0 milliseconds it may be too
    /// early for a step. After a second without known work, which is `nil`, there is some only if
    /// somebody else wrote, such as the command line, or time has passed.
    ///
    /// - Returns: How many milliseconds to wait before the next call; `nil` if no work is known of.
    private func workAlone(
        _ housekeeping: WriterHousekeeping,
        _ transaction: WriterTransaction,
        after waited: Int64?
    ) -> Int64? {
        let now = self.clock()
        guard !self.sync.isLost else { return nil }
        let isShort = self.room.isShort
        do {
            switch waited {
            case nil:
                guard try housekeeping.isWantedAfterWaiting(nowMilliseconds: now) else {
                    self.checkpointIfWorthwhile(afterIdleSecond: true, nowMilliseconds: now)
                    return nil
                }
            case 0:
                let milliseconds = housekeeping.milliseconds(untilStepFrom: now, onFullDisk: isShort)
                guard milliseconds == 0 else {
                    self.checkpointIfWorthwhile(afterIdleSecond: false, nowMilliseconds: now)
                    return milliseconds
                }
            default: break
            }
            try transaction.begin(nowMilliseconds: now)
            try housekeeping.step(isAlone: true, onFullDisk: isShort)
            self.finish(try transaction.commit(self.sync), transaction, isAlone: true)
            for event in housekeeping.takeEvents() { self.report(event) }
            let milliseconds = housekeeping.milliseconds(untilStepFrom: now, onFullDisk: isShort)
            if milliseconds != 0 {
                self.checkpointIfWorthwhile(afterIdleSecond: false, nowMilliseconds: now)
            }
            return milliseconds
        } catch {
            transaction.rollback()
            if self.room.make(after: error) { return 0 }
            self.report(.housekeepingFailed(code: error.code))
            return nil
        }
    }
}
