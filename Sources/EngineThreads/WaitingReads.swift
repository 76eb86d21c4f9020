package import Admission
package import StorageContract

/// Reads that wait for a thread, in turns by holder.
///
/// A turn is counted in the time that reads took. They are bounded in number, and by a rule in the
/// time that reads take; beyond that newcomers are refused. There is no clock and no lock: times are
/// nanoseconds of a monotonic clock that the caller passes.
package struct WaitingReads: ~Copyable {
    /// A read and the account that pays for it.
    package struct Waiting: Sendable {
        package let job: ReadJob
        fileprivate let holder: AccountHolder

        fileprivate init(_ job: ReadJob) {
            self.job = job
            self.holder = job.requester.holder
        }

        fileprivate var portion: OverloadRule.Portion {
            OverloadRule.Portion(of: self.holder, work: WaitingReads.work)
        }
    }

    private static let readsMax = 4_096
    /// The number of reads that may always wait, at any cost.
    private static let requestsMin = 64
    /// The cost of a read is unknown before it is done.
    private static let work = 1
    /// Microseconds of a turn.
    private static let turnMicroseconds = 5_000

    private var reads = TurnQueue<AccountHolder, Waiting>(quantum: WaitingReads.turnMicroseconds)
    private var rule: OverloadRule

    /// - Parameters:
    ///   - threads: The number of threads that execute reads.
    ///   - waitNanoseconds: The maximum execution time of all reads that wait.
    ///   - togetherMax: The maximum number of reads that share a snapshot while more wait.
    package init(threads: Int, waitNanoseconds: Int64, togetherMax: Int = 1) {
        var settings = OverloadRule.Settings(
            waitNanoseconds: waitNanoseconds,
            lanes: threads,
            requestsMin: Self.requestsMin,
            requests: SharedBound(capacity: Self.readsMax)
        )
        settings.pieceWork = togetherMax * Self.work
        self.rule = OverloadRule(settings)
    }

    /// Whether reads may be refused within the next moments.
    package var mayReject: Bool { self.rule.mayRefuse }

    package var overload: OverloadRule.Counted { self.rule.counted }

    /// Has a read wait if it may.
    package mutating func add(
        _ job: ReadJob,
        now: @autoclosure () -> Int64
    ) -> OverloadRule.OnArrival {
        let decision = self.rule.arrived(job.requester.newcomer, work: Self.work, now: now())
        guard case .admit = decision else { return decision }
        let waiting = Waiting(job)
        // The cost is charged when it is known.
        self.reads.append(waiting, of: waiting.holder, cost: 1)
        return decision
    }

    /// Takes the next read in turn, to be executed.
    package mutating func take() -> Waiting? {
        guard let next = self.reads.popFirst() else { return nil }
        self.rule.began(next.portion)
        return next
    }

    /// Takes the next read in turn, and those behind it that can share its snapshot.
    package mutating func take(upTo count: Int) -> [Waiting] {
        guard let first = self.take() else { return [] }
        var taken = [first]
        guard first.job.sharesSnapshot else { return taken }
        while taken.count < count, let next = self.reads.popFirst(where: { $0.job.sharesSnapshot }) {
            self.rule.began(next.portion)
            taken.append(next)
        }
        return taken
    }

    /// The reads were executed together in this time, or `nil` if they came too late.
    package mutating func ended(_ taken: [Waiting], nanoseconds: Int64?, now: Int64) {
        guard !taken.isEmpty else { return }
        self.rule.ended(taken.map(\.portion), nanoseconds: nanoseconds, now: now)
        guard let nanoseconds else { return }
        let microseconds = Int(nanoseconds / 1_000) / taken.count
        for waiting in taken { self.reads.charge(microseconds, of: waiting.holder) }
    }
}
