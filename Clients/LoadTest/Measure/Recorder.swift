import Synchronization

/// Collects events, from any thread.
///
/// Requests that were due before the measured time, in the warm-up, are left out.
final class Recorder: Sendable {
    /// The events since the last call.
    struct Recent: Sendable {
        var figures = SecondFigures()
        var unfinished = 0
    }

    private struct State {
        var measurements = Measurements()
        var recent = Recent()
        var isClosed = false
        var hasEnded = false
    }

    /// The measured time.
    let period: Range<ContinuousClock.Instant>
    private let state = Mutex(State())

    init(period: Range<ContinuousClock.Instant>) {
        self.period = period
    }

    /// Notes that a request was sent.
    func left(due: ContinuousClock.Instant, at time: ContinuousClock.Instant, hasWaited: Bool) {
        self.state.withLock { state in
            state.recent.unfinished += 1
            if !hasWaited, self.period.contains(due) { state.measurements.lateness.record(time - due) }
        }
    }

    /// Notes that a request has ended, in any way.
    func finished() {
        self.state.withLock { $0.recent.unfinished -= 1 }
    }

    /// Notes that a request succeeded.
    func succeeded(
        _ operation: Measured,
        due: ContinuousClock.Instant,
        at time: ContinuousClock.Instant,
        records: Int
    ) {
        let latency = time - due
        self.state.withLock { state in
            state.recent.figures.answered(latency)
            guard !state.isClosed else { return }
            if self.period.contains(due) {
                state.measurements.operations[operation, default: .init()].latencies.record(latency)
            }
            if self.period.contains(time) {
                state.measurements.operations[operation, default: .init()].responsesInTime += 1
                state.measurements.operations[operation, default: .init()].records += records
            }
            self.inSecond(of: time, operation, &state) { $0.answered(latency) }
        }
    }

    /// Notes that a connection waited for a success.
    func waited(from start: ContinuousClock.Instant, to end: ContinuousClock.Instant) {
        guard end - start >= Stall.shortest, self.period.contains(start) else { return }
        let stall = Stall(
            startSeconds: (start - self.period.lowerBound).seconds,
            seconds: (end - start).seconds
        )
        self.state.withLock { state in
            if !state.isClosed { state.measurements.add(stall) }
        }
    }

    func failed(_ operation: Measured, _ reason: String, at time: ContinuousClock.Instant) {
        self.state.withLock { state in
            state.recent.figures.failed()
            guard !state.isClosed, time >= self.period.lowerBound else { return }
            state.measurements.lastFailureSeconds = (time - self.period.lowerBound).seconds
            state.measurements.operations[operation, default: .init()].failures[reason, default: 0] += 1
            self.inSecond(of: time, operation, &state) { $0.failed() }
        }
    }

    /// Notes that a request was rejected with a reservation.
    func reserved(_ operation: Measured, wait: Duration, at time: ContinuousClock.Instant) {
        self.state.withLock { state in
            guard !state.isClosed, self.period.contains(time) else { return }
            state.measurements.operations[operation, default: .init()].reserved += 1
            state.measurements.operations[operation, default: .init()].waitedMilliseconds +=
                wait.milliseconds
        }
    }

    /// Notes the result of a request that was sent at its reserved time.
    func retried(_ operation: Measured, due: ContinuousClock.Instant, wasAdmitted: Bool) {
        self.state.withLock { state in
            guard !state.isClosed, self.period.contains(due) else { return }
            state.measurements.operations[operation, default: .init()].retried += 1
            if wasAdmitted {
                state.measurements.operations[operation, default: .init()].retriesAdmitted += 1
            }
        }
    }

    /// Notes that a fetch replaced a request for which there was no record.
    func replaced(due: ContinuousClock.Instant) {
        self.state.withLock { state in
            guard self.period.contains(due) else { return }
            state.measurements.replaced += 1
        }
    }

    /// Notes a request that was still waiting at the end.
    func unsent(_ operation: Measured, due: ContinuousClock.Instant) {
        self.state.withLock { state in
            guard self.period.contains(due) else { return }
            state.measurements.unsent += 1
            state.measurements.operations[operation, default: .init()].latencies.record(
                self.period.upperBound - due
            )
        }
    }

    /// Returns the events since the last call.
    func takeRecent() -> Recent {
        self.state.withLock { state in
            defer { state.recent.figures = SecondFigures() }
            return state.recent
        }
    }

    /// Notes that no request is in flight any more.
    func end() { self.state.withLock { $0.hasEnded = true } }

    var hasEnded: Bool { self.state.withLock { $0.hasEnded } }

    /// Returns all measurements.
    ///
    /// Nothing is added from now on.
    func close() -> Measurements {
        self.state.withLock { state in
            state.isClosed = true
            return state.measurements
        }
    }

    private func inSecond(
        of time: ContinuousClock.Instant,
        _ operation: Measured,
        _ state: inout State,
        _ change: (inout SecondFigures) -> Void
    ) {
        guard time >= self.period.lowerBound else { return }
        let second = Int((time - self.period.lowerBound).components.seconds)
        while state.measurements.seconds.count <= second { state.measurements.seconds.append([:]) }
        change(&state.measurements.seconds[second][operation, default: SecondFigures()])
    }
}
