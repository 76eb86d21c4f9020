import Foundation
import RecordStore
import Synchronization

/// The reads that wait for a thread.
///
/// SAFETY: the variables are read and written only while the condition is locked.
final class ReadQueue: @unchecked Sendable {
    private let condition = NSCondition()
    private var waiting: WaitingReads
    private var isClosed = false
    /// What the rule says, for those who have not locked.
    private let isCrowding = Atomic<Bool>(false)
    private let time: @Sendable () -> Int64
    /// Milliseconds since 1970, as deadlines are.
    private let clock: @Sendable () -> Int64

    init(_ configuration: PostgreSQLEngineConfiguration, clock: @escaping @Sendable () -> Int64) {
        self.waiting = WaitingReads(
            threads: configuration.readThreads,
            waitNanoseconds: configuration.readerWaitNanoseconds
        )
        self.time = configuration.monotonicNanoseconds
        self.clock = clock
    }

    var mayReject: Bool { self.isCrowding.load(ordering: .relaxed) }

    var overload: OverloadRule.Counted { self.condition.withLock { self.waiting.overload } }

    /// Has a read wait if it may; `nil` if nothing is taken any more.
    func add(_ job: ReadJob) -> OverloadRule.OnArrival? {
        self.condition.withLock {
            guard !self.isClosed else { return nil }
            let decision = self.waiting.add(job, now: self.time())
            self.isCrowding.store(self.waiting.mayReject, ordering: .relaxed)
            self.condition.signal()
            return decision
        }
    }

    /// Waits for the next, and executes it unless its deadline has passed.
    ///
    /// Returns false when the queue is closed and empty.
    func executeNext(_ read: (ReadJob) -> Void) -> Bool {
        guard let next = self.take() else { return false }
        let start = self.time()
        let isLate = next.job.requester.deadlineMilliseconds < self.clock()
        if isLate { next.job.fail(.deadlinePassed) } else { read(next.job) }
        let end = self.time()
        self.condition.withLock {
            self.waiting.ended(next, nanoseconds: isLate ? nil : end - start, now: end)
            self.isCrowding.store(self.waiting.mayReject, ordering: .relaxed)
        }
        return true
    }

    private func take() -> WaitingReads.Waiting? {
        self.condition.withLock {
            while true {
                if let next = self.waiting.take() { return next }
                if self.isClosed { return nil }
                self.condition.wait()
            }
        }
    }

    /// Lets the threads finish what waits.
    func close() {
        self.condition.withLock {
            self.isClosed = true
            self.condition.broadcast()
        }
    }
}
