package import StorageContract

/// A transaction of an engine in which a batch is executed.
package protocol BatchTransaction: WriteTransaction, AnyObject {
    var origin: ChangeOrigin? { get set }
    /// The work done so far, in the unit of the overload rule.
    var workDone: Int { get set }

    /// Executes a job, and rolls it back alone if it fails.
    ///
    /// - Throws: If the transaction as a whole must be rolled back.
    func isolate(_ job: WriteJob) throws(StorageFailure) -> Result<WriteJob.Progress, JobFailure>
}

extension BatchTransaction {
    /// Executes a job; if it fails, the caller must roll the transaction back.
    package func execute(_ job: WriteJob) throws(StorageFailure) -> WriteJob.Progress {
        self.origin = job.origin
        return try job.execute(self)
    }
}

/// The jobs of one batch, from the queue to the commit of their transaction.
///
/// A savepoint costs every job something, so the first attempt has none. If a job fails for a
/// reason of ours, the engine rolls back its transaction and begins another, in which each job is
/// isolated. A job that exceeds a bound of work is then left out.
package struct BatchExecution {
    /// The reply of a job, to call when its commit is durable.
    package struct Finished: Sendable {
        package let job: WriteJob
        package let reply: @Sendable () -> Void
    }

    /// The jobs that are in time and not refused.
    package private(set) var jobs: [WriteJob]
    private var batch: WaitingWrites.Batch
    private let queue: WriteQueue
    private let start: Int64
    private var isolatesEach: Bool
    private var exceeding: WaitingWrites.Exceeding?

    // The outcome of the last attempt.
    private var finished: [Finished] = []
    private var excesses: [WaitingWrites.Excess] = []
    /// A partially executed job; no job after it was executed.
    private var unfinished: (job: WriteJob, rest: WriteJob, work: Int)?
    /// The number of jobs tried.
    private var count = 0

    /// Takes a batch, and fails the jobs that have passed their deadline.
    ///
    /// With `isolatesEach` the first attempt isolates each job, for an engine in which that is
    /// free.
    package init(
        _ batch: WaitingWrites.Batch,
        of queue: WriteQueue,
        nowMilliseconds: Int64,
        isolatesEach: Bool = false
    ) {
        self.start = queue.now
        self.jobs = batch.jobs
        self.batch = batch
        self.queue = queue
        self.isolatesEach = isolatesEach
        self.refuse(.deadlinePassed) { $0.deadlineMilliseconds < nowMilliseconds }
    }

    /// Fails jobs that may not be executed now; returns their number.
    @discardableResult
    package mutating func refuse(_ failure: JobFailure, where isRefused: (WriteJob) -> Bool) -> Int {
        self.exceeding = nil
        let count = self.jobs.count
        self.jobs = self.jobs.filter { job in
            guard isRefused(job) else { return true }
            job.fail(failure)
            return false
        }
        return count - self.jobs.count
    }

    /// Executes the jobs until one is unfinished; discards an earlier attempt.
    ///
    /// - Throws: If the transaction must be rolled back.
    package mutating func run(
        in transaction: some BatchTransaction,
        report: (EngineEvent) -> Void
    ) throws(StorageFailure) {
        self.finished.removeAll(keepingCapacity: true)
        self.finished.reserveCapacity(self.jobs.count)
        (self.excesses, self.unfinished, self.count) = ([], nil, 0)
        for (offset, job) in self.jobs.enumerated() where self.unfinished == nil {
            self.count += 1
            if let known = self.exceeding, known.offset == offset {
                self.finished.append(Finished(job: job) { job.fail(.storage(known.failure)) })
                if let excess = job.excess(of: known.work) { self.excesses.append(excess) }
                continue
            }
            let before = transaction.workDone
            let result: Result<WriteJob.Progress, JobFailure>
            do throws(StorageFailure) {
                result =
                    self.isolatesEach
                    ? try transaction.isolate(job) : .success(try transaction.execute(job))
            } catch {
                self.exceeding = .init(offset: offset, error, metered: transaction.workDone - before)
                throw error
            }
            var work = transaction.workDone - before
            switch result {
            case .success(.finished(let reply)): self.finished.append(Finished(job: job, reply: reply))
            case .success(.unfinished(let rest)):
                self.unfinished = (job, rest, work)
                continue
            case .failure(let failure):
                if case .storage(let failure) = failure {
                    if case .unexpected(let code) = failure { report(.requestFaulted(code: code)) }
                    work = failure.work(metered: work)
                    transaction.workDone = before + work
                }
                self.finished.append(Finished(job: job) { job.fail(failure) })
            }
            if let excess = job.excess(of: work) { self.excesses.append(excess) }
        }
    }

    /// Whether another attempt, with each job isolated, may succeed after a failure.
    package mutating func isolates(after failure: StorageFailure) -> Bool {
        switch failure {
        case .unavailable: return false
        case .conflict, .outcomeUnknown, .unexpected, .exceeds:
            defer { self.isolatesEach = true }
            return !self.isolatesEach
        }
    }

    /// Queues unexecuted jobs again, and reports the work of a partial job to the queue.
    ///
    /// - Returns: The replies, in the order of the jobs.
    package mutating func committed() -> [Finished] {
        self.queue.putBack(self.jobs[self.count...], of: &self.batch)
        if let (job, rest, work) = self.unfinished { self.queue.putBack(rest, of: job, work: work) }
        self.queue.executed(self.batch, since: self.start, excesses: self.excesses)
        return self.finished
    }

    /// Ends the batch without a commit, and fails the remaining jobs.
    package func failed(_ failure: JobFailure) {
        self.queue.executed(self.batch, since: self.start)
        for job in self.jobs { job.fail(failure) }
    }
}
