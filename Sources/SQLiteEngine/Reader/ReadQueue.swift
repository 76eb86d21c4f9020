import Foundation
import RecordStore
import Synchronization

/// Reads that wait for a thread, in turns by holder.
///
/// A turn is counted in the time that reads took. The queue is bounded in number, and by a rule in
/// the time that reads take; beyond that newcomers are refused. A read whose deadline passes while
/// it waits is not executed.
///
/// SAFETY: the variables are read and written only while the condition is locked.
final class ReadQueue: @unchecked Sendable {
    enum Admission {
        case admitted
        case refused(retryAfterMilliseconds: UInt32)
        case closed
    }

    /// A read that waits: one of the two comes, once.
    struct Waiting {
        let holder: AccountHolder
        let deadlineMilliseconds: Int64
        let read: ReadPool.Read
        let fail: @Sendable (JobFailure) -> Void
    }

    private static let readsMax = 4_096
    /// So many reads may always wait, whatever they take.
    private static let requestsMin = 64
    /// Nobody knows what a read takes before it is done.
    private static let work = 1
    /// Microseconds of a turn.
    private static let turnMicroseconds = 5_000

    private let condition = NSCondition()
    private var reads = TurnQueue<AccountHolder, Waiting>(quantum: ReadQueue.turnMicroseconds)
    private var rule: OverloadRule
    private var closed = false
    /// What the rule says, for those who have not locked.
    private let isCrowding = Atomic<Bool>(false)
    /// Nanoseconds of a clock that only goes forward.
    private let time: @Sendable () -> Int64
    /// Milliseconds since 1970, as deadlines are.
    private let clock: @Sendable () -> Int64

    init(_ configuration: SQLiteEngineConfiguration, clock: @escaping @Sendable () -> Int64) {
        let settings = OverloadRule.Settings(
            waitNanoseconds: configuration.readerWaitNanoseconds,
            lanes: configuration.readThreads,
            requestsMin: Self.requestsMin,
            requests: SharedBound(capacity: Self.readsMax)
        )
        self.rule = OverloadRule(settings)
        self.time = configuration.monotonicNanoseconds
        self.clock = clock
    }

    var mayReject: Bool { self.isCrowding.load(ordering: .relaxed) }

    var isClosed: Bool { self.condition.withLock { self.closed } }

    var overload: OverloadRule.Counted { self.condition.withLock { self.rule.counted } }

    func add(
        for requester: Requester,
        _ read: @escaping ReadPool.Read,
        fail: @escaping @Sendable (JobFailure) -> Void
    ) -> Admission {
        let waiting = Waiting(
            holder: requester.holder,
            deadlineMilliseconds: requester.deadlineMilliseconds,
            read: read,
            fail: fail
        )
        return self.condition.withLock {
            guard !self.closed else { return .closed }
            let decision = self.rule.arrived(requester, work: Self.work, now: self.time())
            self.isCrowding.store(self.rule.mayRefuse, ordering: .relaxed)
            if case .refuse(let milliseconds) = decision {
                return .refused(retryAfterMilliseconds: milliseconds)
            }
            // What it costs is charged when it is known.
            self.reads.append(waiting, of: waiting.holder, cost: 1)
            self.condition.signal()
            return .admitted
        }
    }

    /// The next whose turn it is, to be executed; waits for one.
    ///
    /// `nil` when the queue is closed and empty.
    func take() -> Waiting? {
        self.condition.withLock {
            while true {
                if let next = self.reads.popFirst() {
                    self.rule.began(Self.portion(of: next))
                    return next
                }
                if self.closed { return nil }
                self.condition.wait()
            }
        }
    }

    /// Executes what was taken, or refuses it when it comes too late.
    func execute(_ waiting: Waiting, on connection: ReadConnection) {
        guard waiting.deadlineMilliseconds >= self.clock() else {
            waiting.fail(.deadlinePassed)
            return self.ended(waiting, nanoseconds: nil, now: self.time())
        }
        let start = self.time()
        waiting.read(connection)
        let end = self.time()
        self.ended(waiting, nanoseconds: end - start, now: end)
    }

    private func ended(_ waiting: Waiting, nanoseconds: Int64?, now: Int64) {
        self.condition.withLock {
            self.rule.ended([Self.portion(of: waiting)], nanoseconds: nanoseconds, now: now)
            if let nanoseconds { self.reads.charge(Int(nanoseconds / 1_000), of: waiting.holder) }
            self.isCrowding.store(self.rule.mayRefuse, ordering: .relaxed)
        }
    }

    private static func portion(of waiting: Waiting) -> OverloadRule.Portion {
        OverloadRule.Portion(of: waiting.holder, work: self.work)
    }

    func close() {
        self.condition.withLock {
            self.closed = true
            self.condition.broadcast()
        }
    }
}
