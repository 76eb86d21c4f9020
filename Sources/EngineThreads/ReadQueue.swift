package import Admission
package import StorageContract
import Synchronization

/// The queue of reads for threads.
///
/// SAFETY: the variables are read and written only while the condition is locked.
package final class ReadQueue: @unchecked Sendable {
    package enum Admission {
        case admitted
        case refused(retryAfterMilliseconds: UInt32)
        case closed
    }

    private let condition = ThreadCondition()
    private var waiting: WaitingReads
    private var closed = false
    /// The rule's state, readable without the lock.
    private let isCrowding = Atomic<Bool>(false)
    /// Nanoseconds of a monotonic clock.
    private let time: @Sendable () -> Int64
    /// Milliseconds since 1970, as in deadlines.
    private let clock: @Sendable () -> Int64

    /// - Parameters:
    ///   - waiting: The rule, without jobs.
    ///   - time: Nanoseconds of a monotonic clock.
    ///   - clock: Milliseconds since 1970.
    package init(
        _ waiting: consuming WaitingReads,
        time: @escaping @Sendable () -> Int64,
        clock: @escaping @Sendable () -> Int64
    ) {
        self.waiting = waiting
        self.time = time
        self.clock = clock
    }

    package var mayReject: Bool { self.isCrowding.load(ordering: .relaxed) }

    package var isClosed: Bool { self.condition.withLock { self.closed } }

    package var overload: OverloadRule.Counted { self.condition.withLock { self.waiting.overload } }

    package func add(_ job: ReadJob) -> Admission {
        self.condition.withLock {
            guard !self.closed else { return .closed }
            let decision = self.waiting.add(job, now: self.time())
            self.isCrowding.store(self.waiting.mayReject, ordering: .relaxed)
            if case .refuse(let milliseconds) = decision {
                return .refused(retryAfterMilliseconds: milliseconds)
            }
            self.condition.signal()
            return .admitted
        }
    }

    /// Takes the next job in turn; waits for one.
    ///
    /// `nil` if the queue is closed and empty.
    package func take() -> WaitingReads.Waiting? {
        self.condition.withLock {
            while true {
                if let next = self.waiting.take() { return next }
                if self.closed { return nil }
                self.condition.wait()
            }
        }
    }

    /// Executes a job, or refuses it if its deadline has passed.
    package func execute(_ next: WaitingReads.Waiting, _ read: (ReadJob) -> Void) {
        guard next.job.requester.deadlineMilliseconds >= self.clock() else {
            next.job.fail(.deadlinePassed)
            return self.ended([next], nanoseconds: nil, now: self.time())
        }
        let start = self.time()
        read(next.job)
        let end = self.time()
        self.ended([next], nanoseconds: end - start, now: end)
    }

    /// Takes the next job in turn, and those that can share its snapshot; waits for one.
    ///
    /// Calls `rest` before it waits. Empty if the queue is closed and empty.
    package func take(upTo count: Int, rest: () -> Void) -> [WaitingReads.Waiting] {
        let ready = self.condition.withLock { self.waiting.take(upTo: count) }
        guard ready.isEmpty else { return ready }
        rest()
        return self.condition.withLock {
            while true {
                let taken = self.waiting.take(upTo: count)
                if !taken.isEmpty || self.closed { return taken }
                self.condition.wait()
            }
        }
    }

    /// Executes jobs in one snapshot, and refuses those that have passed their deadline.
    ///
    /// `together` returns the indexes of jobs that `alone` is to execute. Each job is charged for
    /// its part of the shared time, and for its own time alone.
    package func execute(
        _ taken: [WaitingReads.Waiting],
        together: ([ReadJob]) -> [Int],
        alone: (ReadJob) -> Void
    ) {
        let now = self.clock()
        let inTime = taken.filter { $0.job.requester.deadlineMilliseconds >= now }
        for late in taken where late.job.requester.deadlineMilliseconds < now {
            late.job.fail(.deadlinePassed)
            self.ended([late], nanoseconds: nil, now: self.time())
        }
        guard !inTime.isEmpty else { return }
        let start = self.time()
        let left = inTime.count > 1 ? together(inTime.map(\.job)) : [0]
        var end = self.time()
        let part = (end - start) / Int64(inTime.count)
        let done = inTime.indices.filter { !left.contains($0) }.map { inTime[$0] }
        self.ended(done, nanoseconds: part * Int64(done.count), now: end)
        for offset in left {
            let start = end
            alone(inTime[offset].job)
            end = self.time()
            self.ended([inTime[offset]], nanoseconds: part + end - start, now: end)
        }
    }

    private func ended(_ taken: [WaitingReads.Waiting], nanoseconds: Int64?, now: Int64) {
        self.condition.withLock {
            self.waiting.ended(taken, nanoseconds: nanoseconds, now: now)
            self.isCrowding.store(self.waiting.mayReject, ordering: .relaxed)
        }
    }

    package func close() {
        self.condition.withLock {
            self.closed = true
            self.condition.broadcast()
        }
    }
}
