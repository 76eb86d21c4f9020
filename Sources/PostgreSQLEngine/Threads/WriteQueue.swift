import Foundation
import RecordStore
import Synchronization

/// The jobs that wait for the writer's thread.
///
/// SAFETY: the variables are read and written only while the condition is locked.
final class WriteQueue: @unchecked Sendable {
    private let condition = NSCondition()
    private var waiting: WaitingWrites
    /// What the rule says, for those who have not locked.
    private let isCrowding = Atomic<Bool>(false)
    private let time: @Sendable () -> Int64

    init(_ configuration: PostgreSQLEngineConfiguration) {
        self.time = configuration.monotonicNanoseconds
        self.waiting = WaitingWrites(
            requestsMax: configuration.waitingRequestsMax,
            bytesMax: configuration.waitingBytesMax,
            waitNanoseconds: configuration.writerWaitNanoseconds
        )
    }

    var now: Int64 { self.time() }

    var mayReject: Bool { self.isCrowding.load(ordering: .relaxed) }

    var overload: OverloadRule.Counted { self.condition.withLock { self.waiting.overload } }

    var load: (requests: Int, bytes: Int) {
        self.condition.withLock { (self.waiting.count, self.waiting.bytes) }
    }

    /// How long somebody should wait whose change will be rejected; `nil` if it may be tried.
    func rejection(of requester: Requester, records: Int, bytes: Int) -> UInt32? {
        self.condition.withLock {
            self.waiting.rejection(of: requester, records: records, bytes: bytes, now: self.time())
        }
    }

    /// Has a job wait if it may; `nil` if nothing is taken any more.
    func add(_ job: WriteJob) -> OverloadRule.OnArrival? {
        self.condition.withLock {
            guard !self.waiting.isClosed else { return nil }
            let decision = self.waiting.add(job, now: self.time())
            self.isCrowding.store(self.waiting.mayReject, ordering: .relaxed)
            self.condition.signal()
            return decision
        }
    }

    /// Returns false if nothing is taken any more.
    func add(_ administration: WaitingWrites.Administration) -> Bool {
        self.condition.withLock {
            guard !self.waiting.isClosed else { return false }
            self.waiting.add(administration, now: self.time())
            self.condition.signal()
            return true
        }
    }

    /// Takes what fits into one commit.
    ///
    /// - Returns: The batch, which is empty if nothing came in the time; `nil` when the queue is closed and
    ///   empty.
    func takeBatch(
        recordsMax: Int,
        bytesMax: Int,
        waitMillisecondsMax: Int64
    ) -> WaitingWrites.Batch? {
        self.condition.withLock {
            self.waiting.timePassed(now: self.time())
            while self.waiting.isEmpty {
                if self.waiting.isClosed { return nil }
                guard waitMillisecondsMax > 0 else { return WaitingWrites.Batch() }
                let nanoseconds = self.waiting.nanoseconds(
                    upTo: waitMillisecondsMax * 1_000_000,
                    now: self.time()
                )
                let end = Date(timeIntervalSinceNow: Double(nanoseconds) / 1_000_000_000)
                let isWoken = self.condition.wait(until: end)
                self.waiting.timePassed(now: self.time())
                if !isWoken, self.waiting.isEmpty, !self.waiting.isClosed { return WaitingWrites.Batch() }
            }
            return self.waiting.takeBatch(recordsMax: recordsMax, bytesMax: bytesMax, now: self.time())
        }
    }

    /// Has jobs that were taken, and not executed, wait again in their order.
    func putBack(_ jobs: ArraySlice<WriteJob>, of batch: inout WaitingWrites.Batch) {
        self.condition.withLock { self.waiting.putBack(jobs, of: &batch) }
    }

    /// Has the rest of a job of which a part was executed wait for its next turn.
    func putBack(_ rest: WriteJob, of job: WriteJob, work: Int) {
        self.condition.withLock { self.waiting.putBack(rest, of: job, work: work) }
    }

    /// What was taken was executed, beginning at a moment of `now`.
    func executed(
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

    func close() {
        self.condition.withLock {
            self.waiting.close()
            self.condition.signal()
        }
    }
}
