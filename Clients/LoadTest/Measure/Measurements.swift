/// What was measured in a run, or in a part of one.
struct Measurements: Codable, Sendable {
    /// Of one kind of request.
    struct Figures: Codable, Sendable {
        /// From when a request was due to its answer: of those that were due within the measured time and got one.
        var latencies = LatencyHistogram()
        /// Answers that came within the measured time.
        var answersInTime = 0
        /// Records that those who were asked for sent or received.
        var records = 0
        /// By what went wrong.
        var failures: [String: Int] = [:]

        /// Refusals that named a time at which the request will be admitted.
        var reserved = 0
        /// The times that these refusals named, together.
        var waitedMilliseconds = 0.0
        /// Requests that came at that time, and those of them that were admitted.
        var retried = 0
        var retriesAdmitted = 0

        var failureCount: Int { self.failures.values.reduce(0, +) }

        mutating func add(_ other: Figures) {
            self.latencies.add(other.latencies)
            self.answersInTime += other.answersInTime
            self.records += other.records
            self.failures.merge(other.failures, uniquingKeysWith: +)
            self.reserved += other.reserved
            self.waitedMilliseconds += other.waitedMilliseconds
            self.retried += other.retried
            self.retriesAdmitted += other.retriesAdmitted
        }
    }

    var operations: [Measured: Figures] = [:]
    /// By the second in which answers came, from the beginning of the measured time.
    var seconds: [[Measured: SecondFigures]] = []
    /// How much later than due requests left that did not have to wait for a free place: this program's own lateness.
    var lateness = LatencyHistogram()
    /// Requests that were still waiting for a free place at the end, and whose wait until then counts as their latency.
    var unsent = 0
    /// Requests that a fetch took the place of, because every record that they could write was being written.
    var replaced = 0
    /// When a request failed last, in seconds of the measured time.
    var lastFailureSeconds: Double?

    mutating func add(_ other: Measurements) {
        self.operations.merge(other.operations) { left, right in
            var sum = left
            sum.add(right)
            return sum
        }
        while self.seconds.count < other.seconds.count { self.seconds.append([:]) }
        for (index, second) in other.seconds.enumerated() {
            self.seconds[index].merge(second) { left, right in
                var sum = left
                sum.add(right)
                return sum
            }
        }
        self.lateness.add(other.lateness)
        self.unsent += other.unsent
        self.replaced += other.replaced
        self.lastFailureSeconds = [self.lastFailureSeconds, other.lastFailureSeconds].compactMap { $0 }.max()
    }

    var failureCount: Int { self.operations.values.reduce(0) { $0 + $1.failureCount } }

    /// Of all kinds of requests together.
    var latencies: LatencyHistogram {
        self.operations.values.reduce(into: LatencyHistogram()) { $0.add($1.latencies) }
    }
}
