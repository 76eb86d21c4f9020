/// A time in which a connection had requests that were due, and none of them succeeded.
///
/// A request that failed counts as well: its user wants the same from then on until a request succeeds.
struct Stall: Codable, Hashable, Sendable {
    /// Shorter ones are latencies.
    static let shortest = Duration.seconds(1)

    /// When it began, in seconds of the measured time.
    var startSeconds: Double
    var seconds: Double

    var endSeconds: Double { self.startSeconds + self.seconds }
}

/// The times in which one connection waits for a success.
struct Waiting: Sendable {
    private var since: ContinuousClock.Instant?

    /// A request is due.
    mutating func due(at time: ContinuousClock.Instant) { self.since = self.since ?? time }

    /// A request succeeded.
    ///
    /// - Parameters:
    ///   - time: When it succeeded.
    ///   - hasMore: Whether others of the connection still wait.
    /// - Returns: Since when it had waited for one.
    mutating func succeeded(at time: ContinuousClock.Instant, hasMore: Bool) -> ContinuousClock.Instant? {
        defer { self.since = hasMore ? time : nil }
        return self.since
    }
}

extension Collection<Stall> {
    /// The longest stall that began after each of these times and before the next one, in seconds; 0 if there
    /// was none.
    ///
    /// A request that was in flight at the time had begun a moment before.
    func longest(after times: [Double], within moment: Double = 1) -> [Double] {
        times.indices.map { index in
            let next = index + 1 < times.count ? times[index + 1] : .infinity
            let range = times[index] - moment..<next - moment
            return self.filter { range.contains($0.startSeconds) }.map(\.seconds).max() ?? 0
        }
    }
}
