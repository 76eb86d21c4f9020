import Foundation
import GRDB
import RecordModel
import RecordStore
import Synchronization

/// What waits for the writer: bounded in number and bytes, and by a rule in the time that it takes; beyond that newcomers are refused.
///
/// SAFETY: `state` is read and written only between `lock()` and `unlock()` of the condition.
final class WriteQueue: @unchecked Sendable {
    enum Job {
        case request(PendingWrite)
        /// Rows of assets, in a transaction with requests.
        case assets(AssetWork)
        /// Rare work of the directory, in a transaction of its own.
        case administration(Administration)
    }

    struct PendingWrite {
        let request: WriteRequest
        let reply: @Sendable (Result<[WriteOutcome], StoreError>) -> Void

        /// At least one, so that a queue of empty requests ends somewhere.
        var records: Int {
            switch self.request.operation {
            case .modifyRecords(let operation): max(1, operation.saves.count + operation.deletes.count)
            case .modifyZones(let operation): max(1, operation.saves.count + operation.deletes.count)
            case .modifySubscriptions(let operation):
                max(1, operation.saves.count + operation.deletes.count)
            case .acceptShares(let operation): max(1, operation.tokens.count)
            case .requestShareAccess(let operation): max(1, operation.tokens.count)
            }
        }
    }

    struct AssetWork {
        /// How many rows it is about.
        let items: Int
        /// Who may be refused for want of room; `nil`: it is bounded by what began before.
        let requester: Requester?
        /// Does it, perhaps again after a transaction that was taken back, and returns what replies when it is on disk.
        let work: @Sendable (WriterTransaction) throws(StorageFailure) -> @Sendable () -> Void
        let refuse: @Sendable (StoreError) -> Void
    }

    struct Administration {
        let work: @Sendable (WriterTransaction, Database) throws -> Void
        let reply: @Sendable ((any Error)?) -> Void
    }

    enum Admission {
        case admitted
        case refused(retryAfterMilliseconds: UInt32)
        case closed
    }

    /// What one commit takes.
    struct Batch {
        var jobs: [Job] = []
        fileprivate var work = 0
    }

    private struct State {
        var rule: OverloadRule
        var jobs: [Job] = []
        var bytes = 0
        var isClosed = false
        var writerWaits = false
        var logSyncs = DurationCounts()
    }

    /// So many requests may always wait, or a few clients with large batches would be refused.
    private static let requestsMin = 64
    /// How long the writer waits before it looks whether another process wrote.
    private static let waitSecondsMax = 1.0

    private let condition = NSCondition()
    private var state: State
    /// What the rule says, for those who have not locked.
    private let mayRefuse = Atomic<Bool>(false)
    private let requestsMax: Int
    private let bytesMax: Int
    /// Nanoseconds of a clock that only goes forward.
    private let time: @Sendable () -> Int64

    init(_ configuration: SQLiteEngineConfiguration) {
        self.requestsMax = configuration.waitingRequestsMax
        self.bytesMax = configuration.waitingBytesMax
        self.time = configuration.monotonicNanoseconds
        let settings = OverloadRule.Settings(
            waitNanoseconds: configuration.writerWaitNanoseconds,
            lanes: 1,
            requestsMin: Self.requestsMin
        )
        self.state = State(rule: OverloadRule(settings))
    }

    func add(_ write: PendingWrite) -> Admission {
        let bytes = write.request.bytes
        return self.add(.request(write), of: write.request.requester, bytes: bytes)
    }

    func add(_ work: AssetWork) -> Admission {
        self.add(.assets(work), of: work.requester, bytes: 0)
    }

    /// Rare work is not refused for want of room.
    func add(_ administration: Administration) -> Admission {
        self.add(.administration(administration), of: nil, bytes: 0)
    }

    /// How long somebody should wait whose change need not be decoded, because it will be refused; `nil`: it may be tried.
    ///
    /// Costs a lock: only to be asked while `refusesRequests`.
    func refusal(of requester: Requester, records: Int, bytes: Int) -> UInt32? {
        let work = OverloadRule.work(records: max(1, records), bytes: bytes)
        return self.condition.withLock {
            let decision = self.state.rule.preview(
                requester,
                work: work,
                isFull: self.isFull(bytes),
                now: self.time()
            )
            guard case .refuse(let milliseconds)? = decision else { return nil }
            return milliseconds
        }
    }

    var refusesRequests: Bool { self.mayRefuse.load(ordering: .relaxed) }

    private func isFull(_ bytes: Int) -> Bool {
        self.state.jobs.count >= self.requestsMax
            || (self.state.bytes + bytes > self.bytesMax && !self.state.jobs.isEmpty)
    }

    private func add(_ job: Job, of requester: Requester?, bytes: Int) -> Admission {
        let work = job.work
        return self.condition.withLock {
            guard !self.state.isClosed else { return .closed }
            if let requester {
                let decision = self.state.rule.arrived(
                    requester,
                    work: work,
                    isFull: self.isFull(bytes),
                    now: self.time()
                )
                self.mayRefuse.store(self.state.rule.mayRefuse, ordering: .relaxed)
                if case .refuse(let milliseconds) = decision {
                    return .refused(retryAfterMilliseconds: milliseconds)
                }
            } else {
                self.state.rule.entered(work: work)
            }
            self.state.bytes += bytes
            self.state.jobs.append(job)
            if self.state.writerWaits { self.condition.signal() }
            return .admitted
        }
    }

    /// Takes what fits into one commit, in order: at least one job, a job of the directory by itself.
    ///
    /// Without `waits`, or after a second of waiting, it may be nothing; `nil` when the queue is closed and empty.
    func takeBatch(recordsMax: Int, bytesMax: Int, waits: Bool) -> Batch? {
        self.condition.withLock {
            while self.state.jobs.isEmpty {
                if self.state.isClosed { return nil }
                guard waits else { return Batch() }
                self.state.writerWaits = true
                let isWoken = self.condition.wait(until: Date(timeIntervalSinceNow: Self.waitSecondsMax))
                self.state.writerWaits = false
                if !isWoken, self.state.jobs.isEmpty, !self.state.isClosed { return Batch() }
            }
            var records = 0
            var bytes = 0
            var count = 0
            var work = 0
            for job in self.state.jobs {
                guard let cost = job.cost else {
                    if count == 0 {
                        count = 1
                        work = job.work
                    }
                    break
                }
                guard
                    count == 0 || (records + cost.records <= recordsMax && bytes + cost.bytes <= bytesMax)
                else { break }
                records += cost.records
                bytes += cost.bytes
                work += job.work
                count += 1
            }
            self.state.bytes -= bytes
            let batch = Batch(jobs: Array(self.state.jobs.prefix(count)), work: work)
            self.state.jobs.removeFirst(count)
            self.state.rule.began(requests: count, work: work)
            return batch
        }
    }

    /// What was taken was executed, beginning at a moment of `now`.
    func executed(_ batch: Batch, since start: Int64) {
        let end = self.time()
        self.condition.withLock {
            self.state.rule.ended(
                requests: batch.jobs.count,
                work: batch.work,
                nanoseconds: end - start,
                now: end
            )
            self.mayRefuse.store(self.state.rule.mayRefuse, ordering: .relaxed)
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

    var isEmpty: Bool { self.condition.withLock { self.state.jobs.isEmpty } }

    var waiting: (requests: Int, bytes: Int) {
        self.condition.withLock { (self.state.jobs.count, self.state.bytes) }
    }

    func close() {
        self.condition.withLock {
            self.state.isClosed = true
            self.condition.signal()
        }
    }
}

extension WriteQueue.Job {
    /// What it counts for in a transaction; `nil`: it has one by itself.
    fileprivate var cost: (records: Int, bytes: Int)? {
        switch self {
        case .request(let write): (write.records, write.request.bytes)
        case .assets(let work): (max(1, work.items), 0)
        case .administration: nil
        }
    }

    /// What it counts for in the rule.
    fileprivate var work: Int {
        guard let cost = self.cost else { return OverloadRule.work(records: 1, bytes: 0) }
        return OverloadRule.work(records: cost.records, bytes: cost.bytes)
    }
}
