import Foundation

/// The time of a monotonic clock.
package enum MonotonicTime {
    /// Nanoseconds since an arbitrary moment before the process began.
    package static func nanoseconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Converts a time that is computed from a clock, with any value, to nanoseconds.
    package static func nanoseconds(ofMilliseconds milliseconds: Int64) -> Int64 {
        // The bound of about 35 years is as good as forever, and cannot overflow when added to a
        // time.
        min(max(milliseconds, 0), 1 << 40) * 1_000_000
    }
}
