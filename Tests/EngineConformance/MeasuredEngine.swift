import CoreFoundation
import Foundation
import StorageContract
import Synchronization

/// The processor time that turns take of the engine's threads: a read, or a transaction with its commit.
///
/// For one request at a time. Waiting takes no processor time, so a load beside the test does not
/// count.
final class TurnMeter: Sendable {
    private struct State {
        /// The thread that writes, and its processor time at the begin of the transaction.
        var transaction: (thread: pthread_t, start: Int64)?
        var longest: Int64 = 0
    }

    private let state = Mutex(State())

    func transactionBegins() {
        self.state.withLock { state in
            Self.endTransaction(&state)
            state.transaction = (pthread_self(), Self.processorTime(of: pthread_self()))
        }
    }

    func measure<Value>(_ read: () throws(StorageFailure) -> Value) throws(StorageFailure) -> Value {
        let start = Self.processorTime(of: pthread_self())
        let value = try read()
        let time = Self.processorTime(of: pthread_self()) - start
        self.state.withLock { $0.longest = max($0.longest, time) }
        return value
    }

    /// The longest turn since the last call, in nanoseconds; 0 if there was none.
    ///
    /// To be called as soon as the last one has its reply.
    func takeLongest() -> Int64 {
        self.state.withLock { state in
            Self.endTransaction(&state)
            defer { state = State() }
            return state.longest
        }
    }

    private static func endTransaction(_ state: inout State) {
        guard let (thread, start) = state.transaction else { return }
        state.longest = max(state.longest, self.processorTime(of: thread) - start)
        state.transaction = nil
    }

    private static func processorTime(of thread: pthread_t) -> Int64 {
        var clock = clockid_t()
        var time = timespec()
        guard pthread_getcpuclockid(thread, &clock) == 0, clock_gettime(clock, &time) == 0 else { return 0 }
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

/// An engine that executes jobs as another one does, and measures each.
final class MeasuredEngine: WrappingEngine {
    let engine: any StorageEngine & LoadGate
    private let meter: TurnMeter

    init(_ engine: any StorageEngine & LoadGate, _ meter: TurnMeter) {
        self.engine = engine
        self.meter = meter
    }

    func write(_ job: WriteJob) { self.engine.write(self.measured(job)) }

    private func measured(_ job: WriteJob) -> WriteJob {
        job.executing { transaction throws(StorageFailure) in
            self.meter.transactionBegins()
            let progress = try job.execute(transaction)
            guard case .unfinished(let rest) = progress else { return progress }
            return .unfinished(rest: self.measured(rest))
        }
    }

    func read(_ job: ReadJob) {
        var measured = ReadJob(
            requester: job.requester,
            effort: job.effort,
            body: { snapshot, isAttempt throws(StorageFailure) in
                try self.meter.measure { () throws(StorageFailure) in
                    try job.body(snapshot, isAttempt)
                }
            },
            fail: job.fail
        )
        measured.database = job.database
        measured.sink = job.sink
        self.engine.read(measured)
    }
}
