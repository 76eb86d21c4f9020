/// When something that failed may be tried again: after the time that the server named, else after a pause that doubles and is jittered.
struct RetryPause: Equatable, Sendable {
    /// How long pauses are that no server names.
    struct Pace: Hashable, Sendable {
        static let usual = Pace(min: .seconds(1), max: .seconds(300))

        var min: Duration
        var max: Duration
    }

    let pace: Pace
    private(set) var failures = 0
    /// `nil`: nothing keeps from trying.
    private(set) var until: ContinuousClock.Instant?

    init(pace: Pace) { self.pace = pace }

    func isOver(_ now: ContinuousClock.Instant) -> Bool { self.until.map { $0 <= now } ?? true }

    mutating func succeeded() {
        self.failures = 0
        self.until = nil
    }

    /// It failed.
    ///
    /// - Parameters:
    ///   - advice: What the server wants to be waited; `nil`: it named no time.
    ///   - now: When it failed.
    ///   - jitter: By chance, from 0 to 1.
    mutating func failed(advice: Duration?, now: ContinuousClock.Instant, jitter: Double) {
        self.failures += 1
        if let advice {
            // Not before, and not all at the same moment who were told the same.
            self.until = now + advice + advice * (0.1 * jitter)
            return
        }
        var ceiling = self.pace.min
        for _ in 1..<self.failures where ceiling < self.pace.max { ceiling = min(ceiling * 2, self.pace.max) }
        self.until = now + self.pace.min / 2 + (ceiling - self.pace.min / 2) * jitter
    }
}
