import CoreFoundation
import Foundation
import RecordStore
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
final class MeasuredEngine: StorageEngine, LoadGate {
    private let engine: any StorageEngine & LoadGate
    private let meter: TurnMeter

    init(_ engine: any StorageEngine & LoadGate, _ meter: TurnMeter) {
        self.engine = engine
        self.meter = meter
    }

    func write(_ job: WriteJob) { self.engine.write(self.measured(job)) }

    private func measured(_ job: WriteJob) -> WriteJob {
        WriteJob(
            schedule: job.schedule,
            requester: job.requester,
            records: job.records,
            bytes: job.bytes,
            deadlineMilliseconds: job.deadlineMilliseconds,
            origin: job.origin,
            makesRoom: job.makesRoom,
            takesTurn: job.takesTurn,
            prefetch: job.prefetch,
            execute: { transaction throws(StorageFailure) in
                self.meter.transactionBegins()
                let progress = try job.execute(transaction)
                guard case .unfinished(let rest) = progress else { return progress }
                return .unfinished(rest: self.measured(rest))
            },
            fail: job.fail
        )
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
        measured.prefetch = job.prefetch
        self.engine.read(measured)
    }

    // MARK: Unmeasured

    var mayReject: Bool { self.engine.mayReject }

    func rejection(ofChangeBy requester: Requester, records: Int, bytes: Int) -> StoreError? {
        self.engine.rejection(ofChangeBy: requester, records: records, bytes: bytes)
    }

    var figures: LoadFigures { self.engine.figures }

    func readTables<Value>(_ read: (any IndexReader) throws -> Value) throws -> Value {
        try self.engine.readTables(read)
    }

    func administer<Value: Sendable>(
        _ work: @escaping @Sendable (any WriteTransaction) throws -> Value
    ) throws -> Value {
        try self.engine.administer(work)
    }

    func report(to observer: any CommitObserver) { self.engine.report(to: observer) }

    var condition: StorageCondition { self.engine.condition }

    var statistics: EngineStatistics { self.engine.statistics }

    func shutdown() async { await self.engine.shutdown() }
}
