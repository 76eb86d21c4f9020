public import Foundation
import RecordModel
import Synchronization

/// The clock of a test server: the system's, until a test moves or stops it.
///
/// Clients keep their own time: their timeouts are not moved.
public final class TestClock: Sendable {
    private struct State {
        var offsetMilliseconds: Int64 = 0
        /// The time at which it stands still.
        var stoppedMilliseconds: Int64?
    }

    private let state = Mutex(State())

    init() {}

    /// The present time of the server.
    public var now: Date {
        Date(timeIntervalSinceReferenceDate: ServerDate.seconds(milliseconds: self.milliseconds))
    }

    /// Moves the clock forward, whether it stands still or not.
    ///
    /// - Parameter duration: The time, in whole milliseconds, up to ten years in all.
    public func advance(by duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let milliseconds = seconds * 1_000 + attoseconds / 1_000_000_000_000_000
        self.state.withLock { state in
            if let stopped = state.stoppedMilliseconds {
                state.stoppedMilliseconds = stopped + milliseconds
            } else {
                state.offsetMilliseconds += milliseconds
            }
        }
    }

    /// Makes the clock stand still, so that dates can be compared exactly.
    ///
    /// `advance(by:)` still moves it.
    ///
    /// - Parameter date: The time to show; the present if `nil`.
    public func stop(at date: Date? = nil) {
        let milliseconds =
            date.map { Int64(($0.timeIntervalSince1970 * 1_000).rounded()) } ?? self.milliseconds
        self.state.withLock { $0.stoppedMilliseconds = milliseconds }
    }

    /// Milliseconds since 1970.
    var milliseconds: Int64 {
        self.state.withLock {
            $0.stoppedMilliseconds ?? Int64(Date().timeIntervalSince1970 * 1_000) + $0.offsetMilliseconds
        }
    }
}
