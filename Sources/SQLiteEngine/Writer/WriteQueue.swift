import Foundation
import RecordModel
import RecordStore
import Synchronization

/// Work that waits for the writer, in turns by holder.
///
/// The queue is bounded in number and bytes, and by a rule in the time that the work takes; beyond
/// that newcomers are refused.
///
/// SAFETY: `state` is read and written only between `lock()` and `unlock()` of the condition.
final class WriteQueue: @unchecked Sendable {
    /// Rare work of the store's own, in a transaction of its own.
    struct Administration {
        /// By `now`; the end of the queue is not waited for.
        var due = Int64.min
        let work: @Sendable (WriterTransaction) throws -> Void
        let reply: @Sendable ((any Error)?) -> Void
    }

    enum Admission {
        case admitted
        case refused(retryAfterMilliseconds: UInt32)
        case closed
    }

    /// What one commit takes.
    struct Batch {
        var jobs: [WriteJob] = []
        /// Then there are no jobs.
        var administration: Administration?
        /// By turn, for the rule.
        fileprivate var portions: [OverloadRule.Portion] = []

        var isEmpty: Bool { self.jobs.isEmpty && self.administration == nil }

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

    private struct State {
        var rule: OverloadRule
        var jobs = TurnQueue<AccountHolder, WriteJob>(quantum: WriteQueue.turnWork)
        var administrations: [Administration] = []
        /// Administrations whose time has not come.
        var later: [Administration] = []
        /// Whether the last batch was of the directory: then it is the others' turn.
        var wasAdministration = false
        /// The holder of the last batch; `nil` if it was of several holders.
        var lastHolder: AccountHolder?
        /// Until then a batch is one turn for each holder, even for one that waits alone.
        var sharedUntil = Int64.min
        var bytes = 0
        var isClosed = false
        var writerWaits = false
        var logSyncs = DurationCounts()

        var isEmpty: Bool { self.jobs.isEmpty && self.administrations.isEmpty }

        /// Finds out which administrations have become due.
        mutating func timePassed(now: Int64) {
            guard !self.later.isEmpty else { return }
            self.administrations += self.later.filter { self.isClosed || $0.due <= now }
            self.later.removeAll { self.isClosed || $0.due <= now }
        }

        /// Seconds until the next administration becomes due, if that is within a limit.
        func seconds(upTo limit: Double, now: Int64) -> Double {
            self.later.reduce(limit) { min($0, max(0, Double($1.due - now) / 1_000_000_000)) }
        }
    }

    /// So many requests may always wait, or a few clients with large batches would be refused.
    private static let requestsMin = 64
    /// A turn, in the rule's unit of work.
    ///
    /// It is some 200 records, or less than two milliseconds; so one request of as many records as
    /// may be.
    fileprivate static let turnWork = 500
    /// More is not added to a commit that others wait for.
    fileprivate static let addedWorkMax = 250
    /// For so long after somebody else was served a holder who waits alone has one turn a commit.
    private static let sharedNanoseconds: Int64 = 100_000_000
    /// The holder that pays for what nobody may be refused.
    fileprivate static let nobody = AccountHolder.address("")
    /// How long the writer waits before it looks whether another process wrote.
    private static let waitSecondsMax = 1.0

    private let condition = NSCondition()
    private var state: State
    /// What the rule says, for those who have not locked.
    private let isCrowding = Atomic<Bool>(false)
    /// Nanoseconds of a clock that only goes forward.
    private let time: @Sendable () -> Int64

    init(_ configuration: SQLiteEngineConfiguration) {
        self.time = configuration.monotonicNanoseconds
        let settings = OverloadRule.Settings(
            waitNanoseconds: configuration.writerWaitNanoseconds,
            lanes: 1,
            requestsMin: Self.requestsMin,
            requests: SharedBound(capacity: configuration.waitingRequestsMax),
            bytes: SharedBound(capacity: configuration.waitingBytesMax)
        )
        self.state = State(rule: OverloadRule(settings))
    }

    /// Rare work is not refused for want of room.
    func add(_ administration: Administration) -> Admission {
        self.condition.withLock {
            guard !self.state.isClosed else { return .closed }
            if administration.due <= self.time() {
                self.state.administrations.append(administration)
            } else {
                self.state.later.append(administration)
            }
            if self.state.writerWaits { self.condition.signal() }
            return .admitted
        }
    }

    /// How long somebody should wait whose change will be rejected; `nil` if it may be tried.
    ///
    /// A change that will be rejected need not be decoded. Costs a lock: only to be asked while
    /// `mayReject`.
    func rejection(of requester: Requester, records: Int, bytes: Int) -> UInt32? {
        let work = OverloadRule.work(records: max(1, records), bytes: bytes)
        return self.condition.withLock {
            let decision = self.state.rule.preview(requester, work: work, bytes: bytes, now: self.time())
            guard case .refuse(let milliseconds)? = decision else { return nil }
            return milliseconds
        }
    }

    var mayReject: Bool { self.isCrowding.load(ordering: .relaxed) }

    func add(_ job: WriteJob) -> Admission {
        let portion = job.portion
        return self.condition.withLock {
            guard !self.state.isClosed else { return .closed }
            if let requester = job.requester {
                let decision = self.state.rule.arrived(
                    requester,
                    work: portion.work,
                    bytes: portion.bytes,
                    now: self.time()
                )
                self.isCrowding.store(self.state.rule.mayRefuse, ordering: .relaxed)
                if case .refuse(let milliseconds) = decision {
                    return .refused(retryAfterMilliseconds: milliseconds)
                }
            } else {
                self.state.rule.entered(portion)
            }
            self.state.bytes += portion.bytes
            self.state.jobs.append(job, of: portion.holder ?? Self.nobody, cost: portion.work)
            if self.state.writerWaits { self.condition.signal() }
            return .admitted
        }
    }

    /// Takes what fits into one commit: at least one job, or one of the directory by itself.
    ///
    /// Those of the directory and the others alternate while both wait. Of the others a single
    /// holder has all that fits; where there are several, each has a turn. So a newcomer waits for
    /// a turn of each of them, and not for all that they have waiting.
    ///
    /// Without `waits`, or after a second of waiting, it may be nothing; `nil` when the queue is
    /// closed and empty.
    func takeBatch(recordsMax: Int, bytesMax: Int, waits: Bool) -> Batch? {
        self.condition.withLock {
            self.state.timePassed(now: self.time())
            while self.state.isEmpty {
                if self.state.isClosed { return nil }
                guard waits else { return Batch() }
                self.state.writerWaits = true
                let seconds = self.state.seconds(upTo: Self.waitSecondsMax, now: self.time())
                let isWoken = self.condition.wait(until: Date(timeIntervalSinceNow: seconds))
                self.state.writerWaits = false
                self.state.timePassed(now: self.time())
                if !isWoken, self.state.isEmpty, !self.state.isClosed { return Batch() }
            }
            let isDirectorysTurn = self.state.jobs.isEmpty || !self.state.wasAdministration
            if isDirectorysTurn, !self.state.administrations.isEmpty {
                self.state.wasAdministration = true
                return Batch(administration: self.state.administrations.removeFirst())
            }
            self.state.wasAdministration = false
            let batch = self.turns(recordsMax: recordsMax, bytesMax: bytesMax)
            for portion in batch.portions {
                self.state.bytes -= portion.bytes
                self.state.rule.began(portion)
            }
            return batch
        }
    }

    private func turns(recordsMax: Int, bytesMax: Int) -> Batch {
        var turns = Turns(
            recordsMax: recordsMax,
            bytesMax: bytesMax,
            isShared: self.state.jobs.holders > 1 || self.time() < self.state.sharedUntil
        )
        while let job = self.state.jobs.popFirst(where: { turns.admits($0) }) {
            turns.add(job)
            // What came behind it would wait again.
            if job.takesTurn { break }
        }
        self.noteHolders(of: turns.batch)
        return turns.batch
    }

    /// The choice of what one commit takes, job by job in the order of their turns.
    private struct Turns {
        let recordsMax: Int
        let bytesMax: Int
        /// Whether each holder has one turn.
        let isShared: Bool
        private(set) var batch = Batch()
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

        /// Whether the commit takes a job too, which is the next.
        mutating func admits(_ job: WriteJob) -> Bool {
            guard
                self.batch.jobs.isEmpty
                    || (self.records + job.records <= self.recordsMax
                        && self.bytes + job.bytes <= self.bytesMax)
            else { return false }
            guard self.isShared else { return true }
            let next = job.requester?.holder ?? WriteQueue.nobody
            if next != self.holder {
                guard self.batch.jobs.isEmpty || job.work <= WriteQueue.addedWorkMax else {
                    return false
                }
                // Their second turn is the next commit's.
                guard self.served.insert(next).inserted else { return false }
                self.holder = next
                self.work = 0
            }
            return self.work < WriteQueue.turnWork
        }

        mutating func add(_ job: WriteJob) {
            let portion = self.batch.add(job)
            self.records += job.records
            self.bytes += portion.bytes
            self.work += portion.work
        }
    }

    /// Remembers whether several holders are served now.
    private func noteHolders(of batch: Batch) {
        let only = batch.portions.count == 1 ? batch.portions[0].holder : nil
        if only == nil || only != self.state.lastHolder {
            // The very first has nobody beside it.
            if self.state.lastHolder != nil || batch.portions.count > 1 {
                self.state.sharedUntil = self.time() + Self.sharedNanoseconds
            }
            self.state.lastHolder = only ?? batch.portions.last?.holder
        }
    }

    /// Has jobs that were taken, and not executed, wait again in their order.
    func putBack(_ jobs: ArraySlice<WriteJob>, of batch: inout Batch) {
        self.condition.withLock {
            for job in jobs.reversed() {
                let portion = job.portion
                let index = batch.portions.lastIndex { $0.holder == portion.holder }
                if let index { batch.portions[index].remove(portion) }
                self.state.rule.returned(portion)
                self.state.bytes += portion.bytes
                self.state.jobs.putBack(job, of: portion.holder ?? Self.nobody, cost: portion.work)
            }
        }
    }

    /// Has the rest of a job of which a part was executed wait for its next turn, before all others of
    /// its user.
    ///
    /// `work`: what that part took, in the rule's unit.
    func putBack(_ rest: WriteJob, of job: WriteJob, work: Int) {
        let declared = job.work
        let portion = rest.portion
        let holder = job.requester?.holder ?? Self.nobody
        self.condition.withLock {
            self.state.rule.entered(portion)
            self.state.bytes += portion.bytes
            self.state.jobs.putBack(rest, of: holder, cost: portion.work)
            // Their turn is over in any case.
            self.state.jobs.charge(portion.work + max(work, Self.turnWork) - declared, of: holder)
        }
    }

    /// What a job took beyond what its size said, in the rule's unit.
    struct Excess {
        /// The holder of the job; `nil` if it is nobody's.
        let holder: AccountHolder?
        let work: Int
    }

    /// What was taken was executed, beginning at a moment of `now`.
    func executed(_ batch: Batch, since start: Int64, excesses: [Excess] = []) {
        let end = self.time()
        self.condition.withLock {
            for excess in excesses { self.state.jobs.charge(excess.work, of: excess.holder ?? Self.nobody) }
            self.state.rule.ended(batch.portions, nanoseconds: end - start, now: end)
            self.isCrowding.store(self.state.rule.mayRefuse, ordering: .relaxed)
        }
    }

    /// A commit was made durable, which took so long.
    func synced(nanoseconds: Int64) {
        self.condition.withLock {
            self.state.rule.synced(nanoseconds: nanoseconds)
            self.state.logSyncs.add(nanoseconds: nanoseconds)
        }
    }

    var logSyncs: DurationCounts { self.condition.withLock { self.state.logSyncs } }

    /// Nanoseconds of the clock that the rule is told of.
    var now: Int64 { self.time() }

    var overload: OverloadRule.Counted { self.condition.withLock { self.state.rule.counted } }

    var isEmpty: Bool { self.condition.withLock { self.state.isEmpty } }

    var waiting: (requests: Int, bytes: Int) {
        self.condition.withLock {
            (self.state.jobs.count + self.state.administrations.count, self.state.bytes)
        }
    }

    func close() {
        self.condition.withLock {
            self.state.isClosed = true
            self.condition.signal()
        }
    }
}

extension WriteJob {
    /// What its size says that it takes, in the rule's unit.
    var work: Int {
        self.takesTurn
            ? WriteQueue.turnWork : OverloadRule.work(records: self.records, bytes: self.bytes)
    }

    /// What it took beyond that; `nil` if it took no more.
    func excess(of work: Int) -> WriteQueue.Excess? {
        // No job is smaller.
        guard work > OverloadRule.work(records: 1, bytes: 0) else { return nil }
        return work > self.work
            ? WriteQueue.Excess(holder: self.requester?.holder, work: work - self.work) : nil
    }

    /// What it counts for in the rule.
    fileprivate var portion: OverloadRule.Portion {
        OverloadRule.Portion(of: self.requester?.holder, work: self.work, bytes: self.bytes)
    }
}
