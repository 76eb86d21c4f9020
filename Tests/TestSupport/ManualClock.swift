import Synchronization

/// A clock that stands still until a test moves it.
///
/// Milliseconds since 1970.
package final class ManualClock: Sendable {
    private let now: Mutex<Int64>

    /// Starts in 2023, so that no test depends on today.
    package init(milliseconds: Int64 = 1_700_000_000_000) {
        self.now = Mutex(milliseconds)
    }

    package var milliseconds: Int64 { self.now.withLock { $0 } }

    package func advance(milliseconds: Int64) {
        self.now.withLock { $0 += milliseconds }
    }
}
