import EngineThreads
import StorageContract
import Synchronization

/// The thread that writes: it executes queued jobs, one transaction after the other.
///
/// A transaction locks the databases of its jobs, and nothing else that other servers lock. One
/// that needs to change more restarts with the whole store locked (`TransactionRunner`). Between
/// batches and while idle, the thread does housekeeping (`HousekeepingSchedule`) and the duties of
/// a server (`NodeDuties`).
///
/// `BatchExecution` handles the failure of one job. Without a connection no job is executed, and
/// every job fails until there is one again.
///
/// SAFETY: the variables below `room` are used on the writer's thread only, except
/// `runner.counted`, which is locked.
final class PostgreSQLWriter: @unchecked Sendable {
    private let queue: WriteQueue
    private let clock: @Sendable () -> Int64
    private let report: @Sendable (EngineEvent) -> Void
    private let reporting: CommitReporting
    let room: RoomProbe

    private let runner: TransactionRunner
    private let schedule: HousekeepingSchedule
    private let duties: NodeDuties

    /// How long the thread waits before it checks for others' writes: alone, and beside other
    /// servers.
    private static let waitMillisecondsMax: Int64 = 1_000
    private static let waitBesideMilliseconds: Int64 = 250

    init(
        queue: WriteQueue,
        configuration: PostgreSQLEngineConfiguration,
        session: WriterSession,
        reachability: Reachability,
        reporting: (own: CommitReporting, others: ChangePolling),
        clock: @escaping @Sendable () -> Int64,
        report: @escaping @Sendable (EngineEvent) -> Void
    ) {
        let now = { queue.now }
        self.queue = queue
        self.clock = clock
        self.report = report
        self.reporting = reporting.own
        self.room = RoomProbe(report: report)
        self.runner = TransactionRunner(
            configuration,
            session: session,
            reachability: reachability,
            reporting: reporting,
            now: now,
            clock: clock,
            report: report
        )
        self.schedule = HousekeepingSchedule(
            self.runner,
            room: self.room,
            configuration: configuration,
            now: now,
            report: report
        )
        self.duties = NodeDuties(self.runner, room: self.room, now: now)
    }

    // MARK: Asking

    var statistics: EngineStatistics {
        var statistics = self.runner.counted.withLock { $0 }
        statistics.requestsRefused = self.queue.refusals
        // PostgreSQL has no reserve. One missing byte makes alerts and plots show a full disk.
        if self.room.isFull { statistics.reserveMissingBytes = 1 }
        return statistics
    }

    func report(to observer: any CommitObserver) { self.reporting.setObserver(observer) }

    // MARK: The thread

    /// Works until the queue is closed and empty.
    func run() {
        // Time to wait while there are no jobs; `nil` if no work is known of.
        var untilHousekeeping: Int64? = 0
        while let batch = self.queue.takeBatch(
            waitMillisecondsMax: untilHousekeeping ?? self.waitMilliseconds
        ) {
            self.duties.doWhatIsDue()
            if batch.isEmpty {
                untilHousekeeping = self.schedule.workAlone(after: untilHousekeeping)
                continue
            }
            untilHousekeeping = 0
            if let administration = batch.administration {
                self.runAdministration(administration, of: batch)
            } else {
                self.runBatch(batch)
                self.schedule.workBetweenBatches()
            }
        }
        self.runner.session.close(self.runner.isLost ? nil : self.runner.lease)
    }

    private var waitMilliseconds: Int64 {
        self.runner.hasOthers && self.runner.session.node != nil
            ? Self.waitBesideMilliseconds : Self.waitMillisecondsMax
    }

    // MARK: Jobs

    private func runBatch(_ batch: WaitingWrites.Batch) {
        var execution = BatchExecution(batch, of: self.queue, nowMilliseconds: self.clock())
        guard !execution.jobs.isEmpty else { return execution.failed(.deadlinePassed) }
        do {
            try self.commitTogether(&execution)
            self.runner.counted.withLock { $0.commits += 1 }
            for end in execution.committed() { end.reply() }
        } catch {
            let failure = error as? StorageFailure ?? .unexpected(code: 0)
            if self.room.notes(failure, now: self.queue.now) {
                self.report(.changesRefused(execution.jobs.count))
            } else if case .unavailable(let code) = failure {
                self.runner.reachability.failed(.writes)
                for _ in execution.jobs { self.report(.storageUnavailable(code: code)) }
            }
            // Deletes are refused as well, so only the operator can free space.
            execution.failed(.storage(failure))
        }
    }

    /// Executes jobs in one transaction, which restarts with more rows locked if needed.
    private func commitTogether(_ execution: inout BatchExecution) throws {
        var plan = self.runner.plan(Set(execution.jobs.compactMap(\.requester?.database)))
        plan.prefetches = execution.jobs.compactMap(\.prefetch)
        for _ in 0..<TransactionRunner.attemptsMax {
            do {
                return try self.runner.run(plan) { transaction in
                    try execution.run(in: transaction, report: self.report)
                    try self.schedule.workBeside(transaction)
                }
            } catch {
                if self.runner.meetNeed(&plan) { continue }
                let failure = error as? StorageFailure ?? .unexpected(code: 0)
                // A commit that was sent may have succeeded.
                guard failure != .outcomeUnknown, execution.isolates(after: failure) else { throw error }
            }
        }
        throw StorageFailure.conflict
    }

    private func runAdministration(
        _ administration: WaitingWrites.Administration,
        of batch: WaitingWrites.Batch
    ) {
        let start = self.queue.now
        let result = Result {
            try self.runner.repeated(self.runner.plan()) { try administration.work($0) }
        }
        self.runner.expectAnyWork()
        self.queue.executed(batch, since: start)
        switch result {
        case .success: administration.reply(nil)
        case .failure(let error):
            _ = self.room.notes(error, now: self.queue.now)
            administration.reply(error)
        }
    }
}
