import Foundation
import RecordStore
import Synchronization

/// Reads that wait for a thread, bounded in number, and by a rule in the time that they take; beyond that newcomers are refused.
///
/// SAFETY: the variables are read and written only while the condition is locked.
final class ReadQueue: @unchecked Sendable {
    enum Admission {
        case admitted
        case refused(retryAfterMilliseconds: UInt32)
        case closed
    }

    private static let readsMax = 4_096
    /// So many reads may always wait, whatever they take.
    private static let requestsMin = 64
    /// Nobody knows what a read takes before it is done.
    private static let work = 1

    private let condition = NSCondition()
    private var reads: [ReadPool.Read] = []
    private var rule: OverloadRule
    private var closed = false
    /// What the rule says, for those who have not locked.
    private let mayRefuse = Atomic<Bool>(false)
    /// Nanoseconds of a clock that only goes forward.
    private let time: @Sendable () -> Int64

    init(_ configuration: SQLiteEngineConfiguration) {
        let settings = OverloadRule.Settings(
            waitNanoseconds: configuration.readerWaitNanoseconds,
            lanes: configuration.readThreads,
            requestsMin: Self.requestsMin
        )
        self.rule = OverloadRule(settings)
        self.time = configuration.monotonicNanoseconds
    }

    var refusesRequests: Bool { self.mayRefuse.load(ordering: .relaxed) }

    var isClosed: Bool { self.condition.withLock { self.closed } }

    var overload: OverloadRule.Counted { self.condition.withLock { self.rule.counted } }

    func add(_ read: @escaping ReadPool.Read, for requester: Requester) -> Admission {
        self.condition.withLock {
            guard !self.closed else { return .closed }
            let isFull = self.reads.count >= Self.readsMax
            let decision = self.rule.arrived(
                requester,
                work: Self.work,
                isFull: isFull,
                now: self.time()
            )
            self.mayRefuse.store(self.rule.mayRefuse, ordering: .relaxed)
            if case .refuse(let milliseconds) = decision {
                return .refused(retryAfterMilliseconds: milliseconds)
            }
            self.reads.append(read)
            self.condition.signal()
            return .admitted
        }
    }

    /// The oldest, to be executed; waits for one.
    ///
    /// `nil` when the queue is closed and empty.
    func take() -> ReadPool.Read? {
        self.condition.withLock {
            while self.reads.isEmpty {
                if self.closed { return nil }
                self.condition.wait()
            }
            self.rule.began(requests: 1, work: Self.work)
            return self.reads.removeFirst()
        }
    }

    /// Executes what was taken.
    func execute(_ read: () -> Void) {
        let start = self.time()
        read()
        let end = self.time()
        self.condition.withLock {
            self.rule.ended(requests: 1, work: Self.work, nanoseconds: end - start, now: end)
            self.mayRefuse.store(self.rule.mayRefuse, ordering: .relaxed)
        }
    }

    func close() {
        self.condition.withLock {
            self.closed = true
            self.condition.broadcast()
        }
    }
}
