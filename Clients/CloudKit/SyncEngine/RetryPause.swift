/// The time of a retry: after the server's retry time, and after a pause that doubles and has jitter,
/// which the first failure with a retry time spares.
struct RetryPause: Equatable, Sendable {
    /// The lengths of pauses for which the server names no time.
    struct Pace: Hashable, Sendable {
        static let usual = Pace(min: .seconds(1), max: .seconds(300))

        var min: Duration
        var max: Duration
    }

    let pace: Pace
    private(set) var failures = 0
    /// `nil` if a retry is allowed at once.
    private(set) var until: ContinuousClock.Instant?

    init(pace: Pace) { self.pace = pace }

    func isOver(_ now: ContinuousClock.Instant) -> Bool { self.until.map { $0 <= now } ?? true }

    mutating func succeeded() {
        self.failures = 0
        self.until = nil
    }

    /// Notes a failure.
    ///
    /// A server that names too short a time again and again is given the doubling pause too.
    ///
    /// - Parameters:
    ///   - advice: The server's retry time; `nil` if it named none.
    ///   - now: The time of the failure.
    ///   - jitter: A random number from 0 to 1.
    mutating func failed(advice: Duration?, now: ContinuousClock.Instant, jitter: Double) {
        self.failures += 1
        var ceiling = self.pace.min
        for _ in 1..<self.failures where ceiling < self.pace.max { ceiling = min(ceiling * 2, self.pace.max) }
        let pause = self.pace.min / 2 + (ceiling - self.pace.min / 2) * jitter
        guard let advice else {
            self.until = now + pause
            return
        }
        // Not before that time, and not at the same moment as all clients that were given the same
        // time.
        let advised = advice + advice * (0.1 * jitter)
        self.until = now + (self.failures == 1 ? advised : max(advised, pause))
    }
}
