import NIOCore

/// Counts the frames that cost the peer nothing (`ping`, `cancel`, `credit`, and a `notification_ack` that acknowledges nothing new) in seconds that start with the first of them.
///
/// - Source: `Protocol/README.md`, section 4.5.
struct ControlFrameBudget: Hashable, Sendable {
    static let framesPerSecondMax = 1_000

    private var secondStart = NIODeadline.uptimeNanoseconds(0)
    private var frames = 0

    /// A control frame arrived.
    ///
    /// `false`: one too many.
    mutating func received(at now: NIODeadline) -> Bool {
        if now - self.secondStart >= .seconds(1) {
            self.secondStart = now
            self.frames = 0
        }
        self.frames += 1
        return self.frames <= Self.framesPerSecondMax
    }
}
