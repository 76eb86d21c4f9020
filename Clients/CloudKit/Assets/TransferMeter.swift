private import Synchronization

/// How much of a record's assets has moved, reported at a bounded rate.
///
/// It never falls, and never reports that all has moved: the record itself does that. A slow
/// receiver misses the values that are out of date by then.
final class TransferMeter: Sendable {
    private struct State {
        var reported = -1.0
        var reportedAt: ContinuousClock.Instant?
        var latest = 0.0
        var isReporting = false
    }

    private static let pause = Duration.milliseconds(100)

    private let report: @Sendable (Double) -> Void
    private let run: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - run: Runs the closures that it is given, one at a time.
    ///   - report: Is called on `run`.
    init(
        run: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
        report: @escaping @Sendable (Double) -> Void
    ) {
        self.run = run
        self.report = report
    }

    func moved(_ doneBytes: Int64, of totalBytes: Int64, now: ContinuousClock.Instant = .now) {
        guard totalBytes > 0, doneBytes < totalBytes else { return }
        let fraction = Double(doneBytes) / Double(totalBytes)
        let isFirst = self.state.withLock { state in
            let isNew = fraction > state.latest || state.reported < 0
            guard fraction > state.reported, isNew else { return false }
            if let last = state.reportedAt, last.duration(to: now) < Self.pause { return false }
            state.latest = fraction
            state.reportedAt = now
            defer { state.isReporting = true }
            return !state.isReporting
        }
        guard isFirst else { return }
        self.run {
            let fraction = self.state.withLock { state in
                state.isReporting = false
                state.reported = state.latest
                return state.latest
            }
            self.report(fraction)
        }
    }
}
