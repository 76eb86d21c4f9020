import Foundation

/// The time of a clock that only goes forward.
package enum MonotonicTime {
    /// Nanoseconds since some moment before the process began.
    package static func nanoseconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// The nanoseconds of a time that is computed from a clock, whatever that said.
    package static func nanoseconds(ofMilliseconds milliseconds: Int64) -> Int64 {
        // Years are as good as for ever, and leave room for a moment to be added.
        min(max(milliseconds, 0), 1 << 40) * 1_000_000
    }
}
