import Foundation

/// The time of a clock that only goes forward.
package enum MonotonicTime {
    /// Nanoseconds since some moment before the process began.
    package static func nanoseconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
