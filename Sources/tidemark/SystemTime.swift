import Dispatch
import Foundation

/// The clock of the server.
enum SystemTime {
    /// Milliseconds since 1970.
    @Sendable
    static func milliseconds() -> Int64 {
        Int64((Date().timeIntervalSince1970 * 1_000).rounded(.down))
    }

    /// Microseconds of `CLOCK_MONOTONIC`, as systemd compares them.
    static var monotonicMicroseconds: UInt64 { DispatchTime.now().uptimeNanoseconds / 1_000 }
}
