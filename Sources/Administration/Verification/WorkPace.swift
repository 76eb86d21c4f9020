import Synchronization

/// Waits after work so that its rate stays within a bound, and its time within a part of all time.
///
/// Work beside requests takes longer while they keep the machine busy, and is then followed by a longer
/// pause: so it gives way to them.
final class WorkPace: Sendable {
    private struct State {
        var bytes: Int64 = 0
        /// When the last pause ended.
        var begin = ContinuousClock.now
    }

    /// Work that waited for something else, as for a machine that stood still, earns no longer pause.
    private static let workSecondsMax = 1.0

    private let start = ContinuousClock.now
    /// `nil` for no bound.
    private let bytesPerSecond: Double?
    /// The part of the time that work may take; 1 for all of it.
    private let share: Double
    private let state = Mutex(State())

    /// Without a bound on the rate, `mebibytesPerSecond` is 0.
    init(mebibytesPerSecond: Int, share: Double = 1) {
        self.bytesPerSecond = mebibytesPerSecond > 0 ? Double(mebibytesPerSecond) * 1_048_576 : nil
        self.share = share
    }

    /// Counts bytes, and waits without a thread.
    ///
    /// - Throws: `CancellationError`.
    func wait(after bytes: Int) async throws {
        let seconds = self.seconds(after: bytes, at: .now)
        if seconds > 0 { try await Task.sleep(for: .seconds(seconds)) } else { try Task.checkCancellation() }
        self.state.withLock { $0.begin = .now }
    }

    /// Counts bytes, and says how long to wait.
    func seconds(after bytes: Int, at now: ContinuousClock.Instant) -> Double {
        let (done, begin) = self.state.withLock { state in
            state.bytes += Int64(bytes)
            return (state.bytes, state.begin)
        }
        let worked = min((now - begin) / .seconds(1), Self.workSecondsMax)
        let rest = worked * (1 / self.share - 1)
        guard let bytesPerSecond else { return rest }
        return max(rest, Double(done) / bytesPerSecond - (now - self.start) / .seconds(1))
    }
}
