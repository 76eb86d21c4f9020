import EngineThreads
import Foundation
import GRDB
import RecordModel
import StorageContract
import Synchronization

/// The thread that writes.
///
/// It executes all queued jobs in one transaction (group commit), and `LogSync` replies when the
/// transaction is on disk. Meanwhile it executes the next one.
///
/// `BatchExecution` handles the failure of one request. A full or failing disk rolls back all of
/// them.
///
/// SAFETY: `checkpointPace`, `transaction` and `database` are used on the writer's thread only; the
/// rest is immutable or locked.
final class Writer: @unchecked Sendable {
    private let queue: WriteQueue
    private let clock: @Sendable () -> Int64
    private let report: @Sendable (EngineEvent) -> Void
    private let statistics = Mutex(EngineStatistics())
    private let checkpoint: IdleCheckpoint
    private let room: DiskRoom
    private let reachability: Reachability
    private let sync: LogSync
    private var checkpointPace: CheckpointPace

    /// How long the writer waits for jobs before it checks whether another process wrote.
    private static let waitMillisecondsMax: Int64 = 1_000

    init(
        queue: WriteQueue,
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
        self.clock = clock
        self.report = report
        self.checkpointPace = CheckpointPace(nowMilliseconds: clock())
    }

    var counted: EngineStatistics { self.statistics.withLock { $0 } }

    /// Works until the queue is closed and empty.
    func run(_ transaction: WriterTransaction, _ housekeeping: WriterHousekeeping, _ database: Database) {
        self.room.start(database)
        // Time to wait while there are no jobs; `nil` if no work is known of.
        var untilHousekeeping: Int64? = 0
        while let batch = self.queue.takeBatch(
            waitMillisecondsMax: untilHousekeeping ?? Self.waitMillisecondsMax
        ) {
            // Work that waited for disk space has no request that would wake the writer.
            if self.room.hasBecomeRoomy(at: self.queue.now) { untilHousekeeping = 0 }
            if batch.isEmpty {
                untilHousekeeping = self.workAlone(housekeeping, transaction, after: untilHousekeeping)
                continue
            }
            untilHousekeeping = 0
            if let administration = batch.administration {
                self.runAdministration(administration, batch, transaction)
            } else {
                self.runBatch(batch, transaction, housekeeping)
            }
        }
        self.sync.close()
        self.checkpoint.close(emptiesLog: self.checkpointPace.isShort)
    }

    /// Executes the jobs that have room; refuses the rest.
    private func runBatch(
        _ batch: WaitingWrites.Batch,
        _ transaction: WriterTransaction,
        _ housekeeping: WriterHousekeeping
    ) {
        let now = self.clock()
        var execution = BatchExecution(batch, of: self.queue, nowMilliseconds: now)
        while true {
            guard !self.sync.isLost else { return execution.failed(Self.lost) }
            if self.room.isShort {
                let refused = execution.refuse(.diskFull) { !self.room.admits($0) }
                if refused > 0 { self.report(.changesRefused(refused)) }
            }
            guard !execution.jobs.isEmpty else { return execution.failed(.diskFull) }
            do {
                let announced = try self.commitTogether(
                    &execution,
                    nowMilliseconds: now,
                    transaction,
                    housekeeping
                )
                let finished = execution.committed()
                return self.finish(announced, transaction, isAlone: self.queue.isEmpty) { loss in
                    for end in finished {
                        if loss == nil { end.reply() } else { end.job.fail(Self.lost) }
                    }
                }
            } catch {
                transaction.rollback()
                if self.room.make(after: error) { continue }
                if error.isOfWriting {
                    // `DiskRoom` has reported the disk's refusal.
                    self.report(.changesRefused(execution.jobs.count))
                } else {
                    self.reachability.failed(.writes)
                    for _ in execution.jobs { self.report(.storageUnavailable(code: error.code)) }
                }
                return execution.failed(error.isForWantOfRoom ? .diskFull : .storage(error))
            }
        }
    }

    /// Nothing can become durable any more in this process.
    private static let lost = JobFailure.storage(.unavailable(code: ResultCode.SQLITE_IOERR_FSYNC.rawValue))

    /// When the last commit is on disk, notifies observers of its changes and calls its reply.
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

    /// Executes jobs in one transaction and commits it.
    ///
    /// SQLite copies each page that a savepoint touches: all jobs pay for it only when one is
    /// needed.
    ///
    /// - Throws: If nothing of the transaction can be written.
    private func commitTogether(
        _ execution: inout BatchExecution,
        nowMilliseconds now: Int64,
        _ transaction: WriterTransaction,
        _ housekeeping: WriterHousekeeping
    ) throws(StorageFailure) -> LogSync.Announced {
        while true {
            do throws(StorageFailure) {
                try transaction.begin(nowMilliseconds: now)
                try execution.run(in: transaction, report: self.report)
                self.keepHouse(housekeeping, transaction)
                let announced = try transaction.commit(self.sync)
                for event in housekeeping.takeEvents() { self.report(event) }
                self.statistics.withLock { $0.commits += 1 }
                return announced
            } catch {
                guard execution.isolates(after: error) else { throw error }
                transaction.rollback()
            }
        }
    }

    /// Does some housekeeping beside requests.
    private func keepHouse(_ housekeeping: WriterHousekeeping, _ transaction: WriterTransaction) {
        do throws(StorageFailure) {
            try transaction.isolated { () throws(StorageFailure) in
                transaction.origin = nil
                try housekeeping.step(isAlone: false, onFullDisk: self.room.isShort)
            }
        } catch {
            // It must not delay requests; work that did not fit is retried.
            self.report(.housekeepingFailed(code: error.code))
        }
    }

    private func runAdministration(
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
                return self.runAdministration(administration, batch, transaction)
            }
            self.queue.executed(batch, since: start)
            administration.reply(error)
        }
    }

    /// Requests a checkpoint if it is worthwhile while no job waits.
    private func checkpointIfWorthwhile(afterIdleSecond isIdle: Bool, nowMilliseconds now: Int64) {
        guard self.checkpointPace.isDue(afterIdleSecond: isIdle, nowMilliseconds: now) else { return }
        self.checkpoint.want()
    }

    /// Does more housekeeping while no job waits.
    ///
    /// No job has arrived in the time that the previous call returned. After 0 milliseconds it may
    /// be too early for a step. After a second without known work (`nil`), work exists only if
    /// another process wrote, such as the command line, or time has passed.
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
