import NIOCore

/// Limits the progress messages of a stream to ten a second.
struct ProgressPace: Hashable, Sendable {
    private static let interval = TimeAmount.milliseconds(100)

    private var last: NIODeadline?

    /// Whether a message is due now; if so, none is due for the next interval.
    mutating func isDue(at now: NIODeadline) -> Bool {
        if let last, now < last + Self.interval { return false }
        self.last = now
        return true
    }
}
