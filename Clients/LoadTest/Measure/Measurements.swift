/// The measurements of a run, or of a part of one.
struct Measurements: Codable, Sendable {
    /// The measurements of one kind of request.
    struct Figures: Codable, Sendable {
        /// From the time a request was due to its response, for requests that were due within the
        /// measured time and got one.
        var latencies = LatencyHistogram()
        /// Responses that came within the measured time.
        var responsesInTime = 0
        /// Records that these requests sent or received.
        var records = 0
        /// By reason.
        var failures: [String: Int] = [:]

        /// Rejections with a reservation.
        var reserved = 0
        /// Sum of the times of these reservations.
        var waitedMilliseconds = 0.0
        /// Requests that were sent again at that time, and those of them that were admitted.
        var retried = 0
        var retriesAdmitted = 0

        var failureCount: Int { self.failures.values.reduce(0, +) }

        mutating func add(_ other: Figures) {
            self.latencies.add(other.latencies)
            self.responsesInTime += other.responsesInTime
            self.records += other.records
            self.failures.merge(other.failures, uniquingKeysWith: +)
            self.reserved += other.reserved
            self.waitedMilliseconds += other.waitedMilliseconds
            self.retried += other.retried
            self.retriesAdmitted += other.retriesAdmitted
        }
    }

    var operations: [Measured: Figures] = [:]
    /// By the second in which responses came, from the start of the measured time.
    var seconds: [[Measured: SecondFigures]] = []
    /// How late requests were sent that did not have to wait for a slot: this program's own
    /// lateness.
    var lateness = LatencyHistogram()
    /// Requests that still waited for a slot at the end.
    ///
    /// Their wait until then counts as their latency.
    var unsent = 0
    /// Requests that a fetch replaced, because every record that they could write was being
    /// written.
    var replaced = 0
    /// The time of the last failure, in seconds of the measured time.
    var lastFailureSeconds: Double?
    /// The first stalls of connections.
    private(set) var stalls: [Stall] = []

    private static let stallsMax = 10_000

    mutating func add(_ stall: Stall) {
        if self.stalls.count < Self.stallsMax { self.stalls.append(stall) }
    }

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
        for stall in other.stalls { self.add(stall) }
        self.lastFailureSeconds = [self.lastFailureSeconds, other.lastFailureSeconds].compactMap { $0 }.max()
    }

    var failureCount: Int { self.operations.values.reduce(0) { $0 + $1.failureCount } }

    /// All kinds of requests together.
    var latencies: LatencyHistogram {
        self.operations.values.reduce(into: LatencyHistogram()) { $0.add($1.latencies) }
    }
}
