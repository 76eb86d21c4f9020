package import Admission
package import StorageContract
import Synchronization

/// The queue of jobs for the writer's thread.
///
/// SAFETY: `waiting` and the variables below it are read and written only while the condition is
/// locked.
package final class WriteQueue: @unchecked Sendable {
    package enum Admission {
        case admitted
        case refused(retryAfterMilliseconds: UInt32)
        case closed
    }

    private let settings: QueueSettings
    private let condition = ThreadCondition()
    private var waiting: WaitingWrites
    private var writerWaits = false
    private var syncs = DurationCounts()
    private var refused: UInt64 = 0
    /// The rule's state, readable without the lock.
    private let isCrowding = Atomic<Bool>(false)
    /// Nanoseconds of a monotonic clock.
    private let time: @Sendable () -> Int64

    /// - Parameters:
    ///   - settings: The bounds, and the size of a commit.
    ///   - burst: Work that may always be queued for some time; `nil` if none may.
    ///   - time: Nanoseconds of a monotonic clock.
    package init(
        _ settings: QueueSettings,
        burst: OverloadRule.Settings.Burst? = nil,
        time: @escaping @Sendable () -> Int64
    ) {
        self.waiting = WaitingWrites(
            requestsMax: settings.waitingRequestsMax,
            bytesMax: settings.waitingBytesMax,
            waitNanoseconds: settings.writerWaitNanoseconds,
            burst: burst
        )
        self.settings = settings
        self.time = time
    }

    /// Rare work is never refused for lack of room.
    package func add(_ administration: WaitingWrites.Administration) -> Admission {
        self.condition.withLock {
            guard !self.waiting.isClosed else { return .closed }
            self.waiting.add(administration, now: self.time())
            if self.writerWaits { self.condition.signal() }
            return .admitted
        }
    }

    /// How long to wait before retrying a change that will be rejected; `nil` if it may be tried.
    ///
    /// A change that will be rejected need not be decoded. Takes a lock: call it only while
    /// `mayReject`.
    package func rejection(of requester: Requester, records: Int, bytes: Int) -> UInt32? {
        self.condition.withLock {
            let milliseconds = self.waiting.rejection(
                of: requester,
                records: records,
                bytes: bytes,
                now: self.time()
            )
            if milliseconds != nil { self.refused += 1 }
            return milliseconds
        }
    }

    package var mayReject: Bool { self.isCrowding.load(ordering: .relaxed) }

    package func add(_ job: WriteJob) -> Admission {
        self.condition.withLock {
            guard !self.waiting.isClosed else { return .closed }
            let decision = self.waiting.add(job, now: self.time())
            if job.requester != nil {
                self.isCrowding.store(self.waiting.mayReject, ordering: .relaxed)
            }
            if case .refuse(let milliseconds) = decision {
                self.refused += 1
                return .refused(retryAfterMilliseconds: milliseconds)
            }
            if self.writerWaits { self.condition.signal() }
            return .admitted
        }
    }

    /// Takes jobs for one commit.
    ///
    /// - Returns: The batch, empty if no job arrived in that time; `nil` if the queue is closed and
    ///   empty.
    package func takeBatch(waitMillisecondsMax: Int64) -> WaitingWrites.Batch? {
        self.condition.withLock {
            self.waiting.timePassed(now: self.time())
            while self.waiting.isEmpty {
                if self.waiting.isClosed { return nil }
                guard waitMillisecondsMax > 0 else { return WaitingWrites.Batch() }
                self.writerWaits = true
                let nanoseconds = self.waiting.nanoseconds(
                    upTo: MonotonicTime.nanoseconds(ofMilliseconds: waitMillisecondsMax),
                    now: self.time()
                )
                let isWoken = self.condition.wait(until: MonotonicTime.nanoseconds() + nanoseconds)
                self.writerWaits = false
                self.waiting.timePassed(now: self.time())
                if !isWoken, self.waiting.isEmpty, !self.waiting.isClosed {
                    return WaitingWrites.Batch()
                }
            }
            return self.waiting.takeBatch(
                recordsMax: self.settings.commitRecordsMax,
                bytesMax: self.settings.commitBytesMax,
                now: self.time()
            )
        }
    }

    /// Queues unexecuted jobs again, in their order.
    package func putBack(_ jobs: ArraySlice<WriteJob>, of batch: inout WaitingWrites.Batch) {
        self.condition.withLock { self.waiting.putBack(jobs, of: &batch) }
    }

    /// Queues the rest of a partially executed job for its next turn.
    package func putBack(_ rest: WriteJob, of job: WriteJob, work: Int) {
        self.condition.withLock { self.waiting.putBack(rest, of: job, work: work) }
    }

    /// A batch was executed; its start is a time of `now`.
    package func executed(
        _ batch: WaitingWrites.Batch,
        since start: Int64,
        excesses: [WaitingWrites.Excess] = []
    ) {
        let end = self.time()
        self.condition.withLock {
            self.waiting.executed(batch, nanoseconds: end - start, now: end, excesses: excesses)
            self.isCrowding.store(self.waiting.mayReject, ordering: .relaxed)
        }
    }

    /// A commit was made durable, in `nanoseconds`.
    package func synced(nanoseconds: Int64) {
        self.condition.withLock {
            self.waiting.synced(nanoseconds: nanoseconds)
            self.syncs.add(nanoseconds: nanoseconds)
        }
    }

    /// Number of changes that were refused for lack of room.
    package var refusals: UInt64 { self.condition.withLock { self.refused } }

    package var logSyncs: DurationCounts { self.condition.withLock { self.syncs } }

    /// Nanoseconds of the rule's clock.
    package var now: Int64 { self.time() }

    package var overload: OverloadRule.Counted { self.condition.withLock { self.waiting.overload } }

    package var isEmpty: Bool { self.condition.withLock { self.waiting.isEmpty } }

    package var load: (requests: Int, bytes: Int) {
        self.condition.withLock { (self.waiting.count, self.waiting.bytes) }
    }

    package func close() {
        self.condition.withLock {
            self.waiting.close()
            self.condition.signal()
        }
    }
}
