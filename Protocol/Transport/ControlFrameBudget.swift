package import NIOCore

/// Counts the frames that cost the peer nothing, in seconds that start with the first of them.
///
/// They are `ping`, `cancel`, `credit`, a `pong` that nobody asked for, a `notification_ack` that
/// acknowledges nothing new, and kinds that are ignored.
///
/// - Source: `Protocol/README.md`, section 4.5.
package struct ControlFrameBudget: Sendable {
    /// Of one connection.
    package static let framesPerSecondMax = 1_000

    /// What all connections of the account may send together.
    private let pace: ControlFramePace
    private var secondStart = NIODeadline.uptimeNanoseconds(0)
    private var frames = 0

    package init(pace: ControlFramePace = ControlFramePace()) {
        self.pace = pace
    }

    /// A control frame arrived.
    ///
    /// - Returns: `false` if it was one too many.
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
