package import NIOCore

/// Counts the frames that cost the peer nothing, in seconds that start with the first of them.
///
/// They are `ping`, `cancel`, `credit`, an unsolicited `pong`, a `notification_ack` that
/// acknowledges nothing new, and ignored kinds.
///
/// - Source: `Protocol/README.md`, section 4.5.
package struct ControlFrameBudget: Sendable {
    /// Limit of one connection.
    package static let framesPerSecondMax = 1_000

    /// The limit of all connections of the account.
    private let pace: ControlFramePace
    private var secondStart = NIODeadline.uptimeNanoseconds(0)
    private var frames = 0

    package init(pace: ControlFramePace = ControlFramePace()) {
        self.pace = pace
    }

    /// A control frame arrived.
    ///
    /// - Returns: `false` if it exceeds the limit.
    package mutating func received(at now: NIODeadline) -> Bool {
        if now - self.secondStart >= .seconds(1) {
            self.secondStart = now
            self.frames = 0
        }
        self.frames += 1
        guard self.frames <= Self.framesPerSecondMax else { return false }
        return self.pace.received(atNanoseconds: Int64(clamping: now.uptimeNanoseconds))
    }
}
