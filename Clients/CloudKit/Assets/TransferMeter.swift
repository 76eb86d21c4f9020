private import Synchronization

/// How much of a record's assets has moved, reported at a bounded rate.
///
/// It never falls, and never reports that all has moved: the record itself does that. A slow
/// receiver misses the values that are out of date by then.
final class TransferMeter: Sendable {
    private struct State {
        var told = -1.0
        var toldAt: ContinuousClock.Instant?
        var latest = 0.0
        var isTelling = false
    }

    private static let pause = Duration.milliseconds(100)

    private let tell: @Sendable (Double) -> Void
    private let run: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - run: Runs the closures that it is given, one at a time.
    ///   - tell: Is called on `run`.
    init(
        run: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
        tell: @escaping @Sendable (Double) -> Void
    ) {
        self.run = run
        self.tell = tell
    }

    func moved(_ doneBytes: Int64, of totalBytes: Int64, now: ContinuousClock.Instant = .now) {
        guard totalBytes > 0, doneBytes < totalBytes else { return }
        let fraction = Double(doneBytes) / Double(totalBytes)
        let isFirst = self.state.withLock { state in
            guard fraction > state.told, fraction > state.latest || state.told < 0 else { return false }
            if let toldAt = state.toldAt, toldAt.duration(to: now) < Self.pause { return false }
            state.latest = fraction
            state.toldAt = now
            defer { state.isTelling = true }
            return !state.isTelling
        }
        guard isFirst else { return }
        self.run {
            let fraction = self.state.withLock { state in
                state.isTelling = false
                state.told = state.latest
                return state.latest
            }
            self.tell(fraction)
        }
    }
}
