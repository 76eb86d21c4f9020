import Dispatch
import Foundation

/// The clock of the server.
package enum SystemTime {
    /// Milliseconds since 1970.
    ///
    /// The time leaves room for sums and for other units, whatever the system says.
    @Sendable
    package static func milliseconds() -> Int64 {
        let milliseconds = (Date().timeIntervalSince1970 * 1_000).rounded(.down)
        return Int64(min(max(milliseconds, -self.millisecondsMax), self.millisecondsMax))
    }

    /// About 140,000 years.
    private static let millisecondsMax = 4_503_599_627_370_496.0

    /// Microseconds of `CLOCK_MONOTONIC`, as systemd compares them.
    package static var monotonicMicroseconds: UInt64 { DispatchTime.now().uptimeNanoseconds / 1_000 }
}
