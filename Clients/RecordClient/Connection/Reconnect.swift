import NIOCore

/// The time of the next attempt to connect: at once after a connection that worked, otherwise
/// after a backoff that doubles and has jitter.
///
/// - Source: *full jitter*, Marc Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog,
///   2015.
struct Reconnect {
    private let backoffMin: TimeAmount
    private let backoffMax: TimeAmount
    private var failures = 0
    private var notBefore: NIODeadline = .uptimeNanoseconds(0)

    init(backoffMin: TimeAmount, backoffMax: TimeAmount) {
        self.backoffMin = backoffMin
        self.backoffMax = max(backoffMin, backoffMax)
    }

    /// A connection ended, or an attempt failed.
    ///
    /// - Parameters:
    ///   - hadAnswered: Whether it had been of use. One that is welcomed and closed over and over has not.
    ///   - retryAfter: The server's wish; zero: none.
    ///   - now: When it ended.
    ///   - generator: Draws the jitter.
    mutating func ended(
        hadAnswered: Bool,
        retryAfter: TimeAmount,
        now: NIODeadline,
        using generator: inout some RandomNumberGenerator
    ) {
        self.failures = hadAnswered ? 0 : self.failures + 1
        self.notBefore = now + retryAfter + self.pause(using: &generator)
    }

    /// When the next attempt may be made.
    func attemptAt(now: NIODeadline) -> NIODeadline {
        max(now, self.notBefore)
    }

    private func pause(using generator: inout some RandomNumberGenerator) -> TimeAmount {
        guard self.failures > 0 else { return .zero }
        var ceiling = self.backoffMin
        for _ in 0..<self.failures where ceiling < self.backoffMax {
            ceiling = ceiling > self.backoffMax - ceiling ? self.backoffMax : ceiling * 2
        }
        return .nanoseconds(
            Int64.random(in: self.backoffMin.nanoseconds...ceiling.nanoseconds, using: &generator)
        )
    }
}
