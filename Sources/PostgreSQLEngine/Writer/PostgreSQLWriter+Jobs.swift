import EngineThreads
import RecordStore
import Synchronization

/// Jobs: what they come to, and housekeeping beside them.
extension PostgreSQLWriter {
    /// The outcome of a batch.
    private struct Executed {
        var replies: [@Sendable () -> Void] = []
        var excesses: [WaitingWrites.Excess] = []
        var unfinished: (job: WriteJob, rest: WriteJob, work: Int)?
        /// How many jobs were looked at.
        var count = 0
    }

    func execute(_ batch: WaitingWrites.Batch) {
        var batch = batch
        let start = self.queue.now
        let time = self.clock()
        let jobs = batch.jobs.filter { $0.deadlineMilliseconds >= time }
        for job in batch.jobs where job.deadlineMilliseconds < time { job.fail(.deadlinePassed) }
        guard !jobs.isEmpty else { return self.queue.executed(batch, since: start) }
        do {
            let executed = try self.commit(jobs)
            self.counted.withLock { $0.commits += 1 }
            self.queue.putBack(jobs[executed.count...], of: &batch)
            if let (job, rest, work) = executed.unfinished { self.queue.putBack(rest, of: job, work: work) }
            self.queue.executed(batch, since: start, excesses: executed.excesses)
            for reply in executed.replies { reply() }
        } catch {
            self.queue.executed(batch, since: start)
            let failure = error as? StorageFailure ?? .unexpected(code: 0)
            if self.noteWantOfRoom(failure) {
                self.report(.changesRefused(jobs.count))
            } else if case .unavailable(let code) = failure {
                self.reachability.failed(.writes)
                for _ in jobs { self.report(.storageUnavailable(code: code)) }
            }
            // Deletes are refused as well, so nobody but the operator can make room.
            for job in jobs { job.fail(.storage(failure)) }
        }
    }

    /// Executes jobs in one transaction: without savepoints, unless one of them fails.
    ///
    /// One that exceeds a bound of work is left out then.
    /// It begins anew with more rows locked if that turns out to be needed.
    private func commit(_ jobs: [WriteJob]) throws -> Executed {
        var plan = self.plan(Set(jobs.compactMap(\.requester?.database)))
        plan.prefetches = jobs.compactMap(\.prefetch)
        var isolatesEach = false
        var exceeding: WaitingWrites.Exceeding?
        for _ in 0..<Self.attemptsMax {
            do {
                return try self.transaction(plan) { transaction in
                    try self.execute(jobs, in: transaction, isolatesEach: isolatesEach, &exceeding)
                }
            } catch {
                if let need {
                    plan.meet(need)
                    plan.node = self.session.node
                    continue
                }
                switch error as? StorageFailure {
                case .outcomeUnknown?, .unavailable?: throw error
                case .conflict?, .unexpected?, .exceeds?, nil: guard !isolatesEach else { throw error }
                }
                isolatesEach = true
            }
        }
        throw StorageFailure.conflict
    }

    /// Executes jobs until one of them has something left.
    private func execute(
        _ jobs: [WriteJob],
        in transaction: PostgreSQLTransaction,
        isolatesEach: Bool,
        _ exceeding: inout WaitingWrites.Exceeding?
    ) throws -> Executed {
        var executed = Executed()
        for (offset, job) in jobs.enumerated() where executed.unfinished == nil {
            executed.count += 1
            if let known = exceeding, known.offset == offset {
                executed.replies.append { job.fail(.storage(known.failure)) }
                if let excess = job.excess(of: known.work) { executed.excesses.append(excess) }
                continue
            }
            let before = transaction.workDone
            let progress: WriteJob.Progress?
            do throws(StorageFailure) {
                progress =
                    isolatesEach
                    ? try self.isolated(job, in: transaction, &executed)
                    : try Self.execute(job, in: transaction)
            } catch {
                exceeding = .init(offset: offset, error, metered: transaction.workDone - before)
                throw error
            }
            let work = transaction.workDone - before
            switch progress {
            case .finished(let reply)?: executed.replies.append(reply)
            case .unfinished(let rest)?:
                executed.unfinished = (job, rest, work)
                continue
            case nil: break
            }
            if let excess = job.excess(of: work) { executed.excesses.append(excess) }
        }
        try self.keepHouse(in: transaction)
        return executed
    }

    private static func execute(
        _ job: WriteJob,
        in transaction: PostgreSQLTransaction
    ) throws(StorageFailure) -> WriteJob.Progress? {
        transaction.origin = job.origin
        return try job.execute(transaction)
    }

    /// Executes a job that is taken back alone if it fails; `nil` if it failed.
    private func isolated(
        _ job: WriteJob,
        in transaction: PostgreSQLTransaction,
        _ executed: inout Executed
    ) throws(StorageFailure) -> WriteJob.Progress? {
        let savepoint = try transaction.setSavepoint()
        let before = transaction.workDone
        do throws(StorageFailure) {
            let progress = try Self.execute(job, in: transaction)
            try transaction.release()
            return progress
        } catch {
            // Then all of them begin anew.
            guard transaction.need == nil else { throw error }
            try transaction.takeBack(to: savepoint)
            if case .unexpected(let code) = error { self.report(.requestFaulted(code: code)) }
            transaction.workDone = before + error.work(metered: transaction.workDone - before)
            executed.replies.append { job.fail(.storage(error)) }
            return nil
        }
    }

    /// Does some housekeeping beside requests, and takes it back alone if it fails.
    private func keepHouse(in transaction: PostgreSQLTransaction) throws(StorageFailure) {
        guard transaction.mayKeepHouse else { return try self.followSharedZones(in: transaction) }
        let rows = PostgreSQLHousekeeping(transaction)
        let wait = self.housekeeping.milliseconds(
            untilStepFrom: transaction.nowMilliseconds,
            onFullDisk: false,
            in: rows
        )
        guard wait != nil else { return }
        try self.aside(in: transaction) { () throws(StorageFailure) in
            try self.housekeeping.step(isAlone: false, onFullDisk: false, in: rows)
        }
    }

    /// Brings shared databases up to date after a change of a shared zone, while another server keeps
    /// house: it would find the entries later, and could not report who made the change.
    private func followSharedZones(in transaction: PostgreSQLTransaction) throws(StorageFailure) {
        guard transaction.plan.node != nil, transaction.leavesViews == true else { return }
        try self.aside(in: transaction) { () throws(StorageFailure) in
            transaction.leavesViews = try self.housekeeping.followSharedZones(
                isAlone: false,
                in: transaction
            )
        }
    }

    /// Works for no request, and takes that back alone if it fails.
    private func aside(
        in transaction: PostgreSQLTransaction,
        _ work: () throws(StorageFailure) -> Void
    ) throws(StorageFailure) {
        let savepoint = try transaction.setSavepoint()
        do throws(StorageFailure) {
            transaction.origin = nil
            try work()
            try transaction.release()
        } catch {
            try transaction.takeBack(to: savepoint)
            _ = self.housekeeping.takeEvents()
            if case .unexpected(let code) = error { self.report(.housekeepingFailed(code: code)) }
        }
    }
}
