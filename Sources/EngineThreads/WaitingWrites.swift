package import Admission
package import StorageContract

/// Jobs that wait for the one who writes, in turns by holder.
///
/// They are bounded in number and bytes, and by a rule in their execution time; beyond that new
/// requests are refused. The size of a commit is decided here as well. There is no clock and no
/// lock: times are nanoseconds of a monotonic clock that the caller passes.
package struct WaitingWrites: ~Copyable {
    /// Rare work of the store's own, in a transaction of its own.
    package struct Administration: Sendable {
        /// By the caller's clock.
        ///
        /// It is waited for, unless no more jobs are taken.
        var due: Int64
        package let work: @Sendable (any WriteTransaction) throws -> Void
        package let reply: @Sendable ((any Error)?) -> Void

        package init(
            due: Int64 = .min,
            work: @escaping @Sendable (any WriteTransaction) throws -> Void,
            reply: @escaping @Sendable ((any Error)?) -> Void
        ) {
            self.due = due
            self.work = work
            self.reply = reply
        }
    }

    /// The jobs of one commit.
    package struct Batch: Sendable {
        package fileprivate(set) var jobs: [WriteJob] = []
        /// Then there are no jobs.
        package fileprivate(set) var administration: Administration?
        /// By turn, for the rule.
        fileprivate var portions: [OverloadRule.Portion] = []

        /// Nothing.
        package init() {}

        package var isEmpty: Bool { self.jobs.isEmpty && self.administration == nil }

        fileprivate mutating func add(_ job: WriteJob) -> OverloadRule.Portion {
            self.jobs.append(job)
            let portion = job.portion
            // A portion may be of no holder: nil equals nil, also where there is none yet.
            if let last = self.portions.last, last.holder == portion.holder {
                self.portions[self.portions.count - 1].add(portion)
            } else {
                self.portions.append(portion)
            }
            return portion
        }
    }

    /// The cost of a job beyond its declared size, in the rule's unit.
    ///
    /// An engine counts about one unit for a lookup, a row and an entry of an index.
    package struct Excess: Sendable {
        /// The holder of the job; `nil` if it has none.
        let holder: AccountHolder?
        let work: Int
    }

    /// A job that turned out to exceed a bound of work: it is not executed again.
    package struct Exceeding: Sendable {
        /// The index among the jobs of the batch.
        package let offset: Int
        package let failure: StorageFailure
        /// The work that it took until then, in the rule's unit.
        package let work: Int

        /// `nil` if the failure says nothing about the job's cost.
        package init?(offset: Int, _ failure: StorageFailure, metered: Int) {
            guard case .exceeds = failure else { return nil }
            self.offset = offset
            self.failure = failure
            self.work = failure.work(metered: metered)
        }
    }

    /// The number of requests that may always wait; without it, a few clients with large batches
    /// would be refused.
    private static let requestsMin = 64
    /// A turn, in the rule's unit of work.
    ///
    /// It is some 200 records, or less than two milliseconds; so one request of as many records as
    /// may be.
    fileprivate static let turnWork = 500
    /// More is not added to a commit that others wait for.
    fileprivate static let addedWorkMax = 250
    /// The time after another holder was served in which a holder who waits alone has one turn a
    /// commit.
    private static let sharedNanoseconds: Int64 = 100_000_000
    /// The holder that pays for jobs that must not be refused and have no holder.
    fileprivate static let nobody = AccountHolder.address("")

    private var rule: OverloadRule
    private var jobs = TurnQueue<AccountHolder, WriteJob>(quantum: WaitingWrites.turnWork)
    private var administrations: [Administration] = []
    /// Administrations that are not due yet.
    private var later: [Administration] = []
    /// Whether the last batch was an administration: then it is the others' turn.
    private var wasAdministration = false
    /// The holder of the last batch; `nil` if it was of several holders.
    private var lastHolder: AccountHolder?
    /// Until then a batch is one turn for each holder, even for one that waits alone.
    private var sharedUntil = Int64.min
    /// The bytes of jobs that wait.
    package private(set) var bytes = 0
    /// Whether nothing more may come.
    package private(set) var isClosed = false

    /// Beyond `requestsMax` and `bytesMax`, requests are refused with a time to come back; and
    /// beyond what takes longer than `waitNanoseconds` to execute, unless it is a `burst`.
    package init(
        requestsMax: Int,
        bytesMax: Int,
        waitNanoseconds: Int64,
        burst: OverloadRule.Settings.Burst? = nil
    ) {
        var settings = OverloadRule.Settings(
            waitNanoseconds: waitNanoseconds,
            lanes: 1,
            requestsMin: Self.requestsMin,
            requests: SharedBound(capacity: requestsMax),
            bytes: SharedBound(capacity: bytesMax)
        )
        settings.pieceWork = Self.turnWork
        settings.burst = burst
        self.rule = OverloadRule(settings)
    }

    // MARK: The queue

    package var isEmpty: Bool { self.jobs.isEmpty && self.administrations.isEmpty }

    /// Jobs and administrations that may be taken.
    package var count: Int { self.jobs.count + self.administrations.count }

    /// Whether jobs may be refused within the next moments.
    package var mayReject: Bool { self.rule.mayRefuse }

    package var overload: OverloadRule.Counted { self.rule.counted }

    /// Admits no more jobs, and lets jobs with a later time wait no longer.
    package mutating func close() { self.isClosed = true }

    /// Finds out which administrations have become due.
    package mutating func timePassed(now: @autoclosure () -> Int64) {
        guard !self.later.isEmpty else { return }
        let time = now()
        self.administrations += self.later.filter { self.isClosed || $0.due <= time }
        self.later.removeAll { self.isClosed || $0.due <= time }
    }

    /// Nanoseconds until the next administration becomes due, if that is within a limit.
    package func nanoseconds(upTo limit: Int64, now: @autoclosure () -> Int64) -> Int64 {
        guard !self.later.isEmpty else { return limit }
        let time = now()
        return self.later.reduce(limit) { min($0, max(0, $1.due - time)) }
    }

    // MARK: Arriving

    /// Rare work is not refused for lack of room.
    package mutating func add(_ administration: Administration, now: @autoclosure () -> Int64) {
        if administration.due == .min || administration.due <= now() {
            self.administrations.append(administration)
        } else {
            self.later.append(administration)
        }
    }

    /// Has a job wait if it may.
    package mutating func add(
        _ job: WriteJob,
        now: @autoclosure () -> Int64
    ) -> OverloadRule.OnArrival {
        let portion = job.portion
        if let requester = job.requester {
            let decision = self.rule.arrived(
                requester.newcomer,
                work: portion.work,
                bytes: portion.bytes,
                now: now()
            )
            if case .refuse = decision { return decision }
        } else {
            self.rule.entered(portion)
        }
        self.bytes += portion.bytes
        self.jobs.append(job, of: portion.holder ?? Self.nobody, cost: portion.work)
        return .admit
    }

    /// The time to wait before a change that will be rejected is sent again; `nil` if it may be
    /// tried now.
    package mutating func rejection(
        of requester: Requester,
        records: Int,
        bytes: Int,
        now: @autoclosure () -> Int64
    ) -> UInt32? {
        let work = WorkUnits.ofChange(records: max(1, records), bytes: bytes)
        let decision = self.rule.preview(requester.newcomer, work: work, bytes: bytes, now: now())
        guard case .refuse(let milliseconds)? = decision else { return nil }
        return milliseconds
    }

    // MARK: Being taken

    /// Takes what fits into one commit: at least one job, or one administration by itself.
    ///
    /// Administrations and jobs alternate while both wait. Of the jobs a single holder has all that
    /// fits; where there are several, each has a turn. So a newcomer waits for a turn of each of
    /// them, and not for all that they have waiting. Nothing is taken if nothing waits.
    package mutating func takeBatch(
        recordsMax: Int,
        bytesMax: Int,
        now: @autoclosure () -> Int64
    ) -> Batch {
        var batch = Batch()
        let isAdministrationsTurn = self.jobs.isEmpty || !self.wasAdministration
        if isAdministrationsTurn, !self.administrations.isEmpty {
            self.wasAdministration = true
            batch.administration = self.administrations.removeFirst()
            return batch
        }
        self.wasAdministration = false
        self.takeTurns(recordsMax: recordsMax, bytesMax: bytesMax, now: now(), into: &batch)
        for portion in batch.portions {
            self.bytes -= portion.bytes
            self.rule.began(portion)
        }
        return batch
    }

    private mutating func takeTurns(
        recordsMax: Int,
        bytesMax: Int,
        now: Int64,
        into batch: inout Batch
    ) {
        var room = CommitRoom(
            recordsMax: recordsMax,
            bytesMax: bytesMax,
            isShared: self.jobs.holders > 1 || now < self.sharedUntil
        )
        while let job = self.jobs.popFirst(where: { room.admits($0) }) {
            room.take(job, as: batch.add(job))
            // Jobs behind it would wait again.
            if job.takesTurn { break }
        }
        self.noteHolders(of: batch, now: now)
    }

    /// The room of one commit, while jobs are taken into it in the order of their turns.
    private struct CommitRoom {
        let recordsMax: Int
        let bytesMax: Int
        /// Whether each holder has one turn.
        let isShared: Bool
        private var isEmpty = true
        private var records = 0
        private var bytes = 0
        private var served: Set<AccountHolder> = []
        private var holder: AccountHolder?
        /// Work of the holder's turn so far.
        private var work = 0

        init(recordsMax: Int, bytesMax: Int, isShared: Bool) {
            self.recordsMax = recordsMax
            self.bytesMax = bytesMax
            self.isShared = isShared
        }

        /// Whether the next job is of this commit too.
        mutating func admits(_ job: WriteJob) -> Bool {
            guard
                self.isEmpty
                    || (self.records + job.records <= self.recordsMax
                        && self.bytes + job.bytes <= self.bytesMax)
            else { return false }
            guard self.isShared else { return true }
            let next = job.requester?.holder ?? WaitingWrites.nobody
            if next != self.holder {
                guard self.isEmpty || job.work <= WaitingWrites.addedWorkMax else { return false }
                // Their second turn is the next commit's.
                guard self.served.insert(next).inserted else { return false }
                self.holder = next
                self.work = 0
            }
            return self.work < WaitingWrites.turnWork
        }

        mutating func take(_ job: WriteJob, as portion: OverloadRule.Portion) {
            self.isEmpty = false
            self.records += job.records
            self.bytes += portion.bytes
            self.work += portion.work
        }
    }

    /// Remembers whether several holders are served now.
    private mutating func noteHolders(of batch: Batch, now: Int64) {
        let only = batch.portions.count == 1 ? batch.portions[0].holder : nil
        if only == nil || only != self.lastHolder {
            // The very first holder has no other beside it.
            if self.lastHolder != nil || batch.portions.count > 1 {
                self.sharedUntil = now + Self.sharedNanoseconds
            }
            self.lastHolder = only ?? batch.portions.last?.holder
        }
    }

    // MARK: After the execution

    /// Has jobs that were taken, and not executed, wait again in their order.
    package mutating func putBack(_ jobs: ArraySlice<WriteJob>, of batch: inout Batch) {
        for job in jobs.reversed() {
            let portion = job.portion
            let index = batch.portions.lastIndex { $0.holder == portion.holder }
            if let index { batch.portions[index].remove(portion) }
            self.rule.returned(portion)
            self.bytes += portion.bytes
            self.jobs.putBack(job, of: portion.holder ?? Self.nobody, cost: portion.work)
        }
    }

    /// Lets the rest of a partly executed job wait for its next turn, before all others of its
    /// user.
    ///
    /// `work` is the cost of that part, in the rule's unit.
    package mutating func putBack(_ rest: WriteJob, of job: WriteJob, work: Int) {
        let declared = job.work
        let portion = rest.portion
        let holder = job.requester?.holder ?? Self.nobody
        self.rule.entered(portion)
        self.bytes += portion.bytes
        self.jobs.putBack(rest, of: holder, cost: portion.work)
        // Their turn is over in any case.
        self.jobs.charge(portion.work + max(work, Self.turnWork) - declared, of: holder)
    }

    /// The batch was executed in this time.
    package mutating func executed(
        _ batch: Batch,
        nanoseconds: Int64,
        now: Int64,
        excesses: [Excess] = []
    ) {
        for excess in excesses { self.jobs.charge(excess.work, of: excess.holder ?? Self.nobody) }
        self.rule.ended(batch.portions, nanoseconds: nanoseconds, now: now)
    }

    /// A commit was made durable in this time.
    package mutating func synced(nanoseconds: Int64) { self.rule.synced(nanoseconds: nanoseconds) }
}

extension WriteJob {
    /// The cost beyond the declared size; `nil` if there is none.
    ///
    /// Both are in the rule's unit.
    package func excess(of work: Int) -> WaitingWrites.Excess? {
        // No job is smaller.
        guard work > WorkUnits.ofChange(records: 1, bytes: 0) else { return nil }
        return work > self.work
            ? WaitingWrites.Excess(holder: self.requester?.holder, work: work - self.work) : nil
    }

    /// The declared cost, in the rule's unit.
    fileprivate var work: Int {
        self.takesTurn
            ? WaitingWrites.turnWork : WorkUnits.ofChange(records: self.records, bytes: self.bytes)
    }

    /// The portion that the job counts for in the rule.
    fileprivate var portion: OverloadRule.Portion {
        OverloadRule.Portion(of: self.requester?.holder, work: self.work, bytes: self.bytes)
    }
}

extension StorageFailure {
    /// The work of a job that failed with this error, or the work that the engine metered if that
    /// is more.
    ///
    /// Entries that were made and never written are in no meter.
    package func work(metered: Int) -> Int {
        if case .exceeds(_, let work) = self { max(work, metered) } else { metered }
    }
}
