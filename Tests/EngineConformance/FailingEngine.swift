import RecordModel
import StorageContract
import Synchronization
import TestSupport

/// Where the execution of a job fails, or its commit.
enum InjectedFailure: Hashable, Sendable {
    /// A primitive fails, once so many have succeeded; or the commit, if there are no more.
    case primitive(StorageFailure, behind: Int)
    /// The commit succeeds, and nobody is told.
    case reply
}

/// An engine that executes jobs as another one does, and has some of them fail as a database does to which
/// a network leads.
final class FailingEngine: WrappingEngine {
    let engine: any StorageEngine & LoadGate
    /// Which failure the next job meets; `nil` if none.
    private let next: @Sendable () -> InjectedFailure?
    private let failures = Atomic<Int>(0)

    init(_ engine: any StorageEngine & LoadGate, _ next: @escaping @Sendable () -> InjectedFailure?) {
        self.engine = engine
        self.next = next
    }

    /// Jobs that met a failure.
    var failuresCount: Int { self.failures.load(ordering: .relaxed) }

    func write(_ job: WriteJob) { self.engine.write(self.failing(job)) }

    private func failing(_ job: WriteJob) -> WriteJob {
        // Decided once: an engine may execute a job again, and then it fails again.
        let failure = self.next()
        if failure != nil { self.failures.add(1, ordering: .relaxed) }
        return job.executing { transaction throws(StorageFailure) in
            switch failure {
            case nil: try self.failing(job.execute(transaction))
            case .primitive(let failure, let count)?:
                try self.execute(job, in: FailingTransaction(transaction, failure, behind: count))
            case .reply?: self.unanswered(job, try job.execute(transaction))
            }
        }
    }

    private func execute(
        _ job: WriteJob,
        in transaction: FailingTransaction
    ) throws(StorageFailure) -> WriteJob.Progress {
        _ = try job.execute(transaction)
        throw transaction.failure
    }

    private func failing(_ progress: WriteJob.Progress) -> WriteJob.Progress {
        switch progress {
        case .finished: progress
        case .unfinished(let rest): .unfinished(rest: self.failing(rest))
        }
    }

    /// The outcome of what was done is lost.
    private func unanswered(_ job: WriteJob, _ progress: WriteJob.Progress) -> WriteJob.Progress {
        let reply: @Sendable () -> Void = { job.fail(.storage(.outcomeUnknown)) }
        guard case .unfinished(let rest) = progress else { return .finished(reply: reply) }
        return .unfinished(rest: rest.executing { _ in .finished(reply: reply) })
    }
}

/// Failures at random places, of a quarter of all jobs, in the order of a seed.
final class RandomFailures: Sendable {
    private struct State {
        var generator: SeededGenerator
        var inARow = 0
    }

    private let state: Mutex<State>
    /// Fewer than a store takes for one request.
    private static let inARowMax = 6

    init(seed: UInt64) {
        self.state = Mutex(State(generator: SeededGenerator(seed: seed)))
    }

    func next() -> InjectedFailure? {
        self.state.withLock { state in
            guard state.inARow < Self.inARowMax, Int.random(in: 0..<4, using: &state.generator) == 0 else {
                state.inARow = 0
                return nil
            }
            state.inARow += 1
            // Small transactions have some ten primitives, large ones some hundred.
            let primitives = Int.random(
                in: 0..<(1 << Int.random(in: 1..<10, using: &state.generator)),
                using: &state.generator
            )
            return switch Int.random(in: 0..<3, using: &state.generator) {
            case 0: .reply
            case 1: .primitive(.outcomeUnknown, behind: primitives)
            default: .primitive(.conflict, behind: primitives)
            }
        }
    }
}
