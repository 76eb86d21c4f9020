import NIOCore

/// When a stream tells its progress: at most ten times a second.
struct ProgressPace: Hashable, Sendable {
    private static let interval = TimeAmount.milliseconds(100)

    private var last: NIODeadline?

    /// `true`: now, and not again for a while.
    mutating func isDue(at now: NIODeadline) -> Bool {
        if let last, now < last + Self.interval { return false }
        self.last = now
        return true
    }
}
