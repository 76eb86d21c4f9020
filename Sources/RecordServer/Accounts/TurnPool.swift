import Admission
import NIOPosix
import Synchronization

/// Threads for blocking work, shared fairly between holders.
///
/// No holder may queue more than is left for the others.
final class TurnPool: Sendable {
    typealias Work = @Sendable () -> Void

    private struct State {
        var waiting: TurnQueue<AccountHolder, Work>
        /// Threads that have work.
        var busy = 0
    }

    private let threads: NIOThreadPool
    private let threadCount: Int
    private let costMax: SharedBound
    private let state: Mutex<State>

    /// - Parameters:
    ///   - threadCount: Maximum number of concurrent jobs.
    ///   - quantum: Cost that each holder is served in a round.
    ///   - costMax: Maximum cost that all holders may queue together, in the same unit.
    init(threadCount: Int, quantum: Int, costMax: Int) {
        self.threads = NIOThreadPool(numberOfThreads: threadCount)
        self.threadCount = threadCount
        self.costMax = SharedBound(capacity: costMax)
        self.state = Mutex(State(waiting: TurnQueue(quantum: quantum)))
    }

    func start() { self.threads.start() }

    /// Drops queued work.
    func shutdown() async throws { try await self.threads.shutdownGracefully() }

    /// Executes work on a thread when its holder's turn comes.
    ///
    /// - Returns: `false` if the holder's queue is full; the work is then dropped.
    func submit(of holder: AccountHolder, cost: Int, _ work: @escaping Work) -> Bool {
        let (isAdmitted, isStarting) = self.state.withLock { state in
            let own = state.waiting.cost(of: holder)
            guard own == 0 || self.costMax.admits(cost, own: own, all: state.waiting.cost) else {
                return (false, false)
            }
            state.waiting.append(work, of: holder, cost: cost)
            guard state.busy < self.threadCount else { return (true, false) }
            state.busy += 1
            return (true, true)
        }
        if isStarting { self.threads.submit { _ in self.work() } }
        return isAdmitted
    }

    /// Works until the queue is empty.
    private func work() {
        while let next = self.next() { next() }
    }

    private func next() -> Work? {
        self.state.withLock { state in
            let next = state.waiting.popFirst()
            if next == nil { state.busy -= 1 }
            return next
        }
    }
}
