/// Requests three times what a server can do, and less before and afterwards.
struct OverloadTest: Sendable {
    /// A part of the test: its name, and its share of the rate.
    enum Part: String, Codable, Sendable {
        case usual
        case overload
        case afterwards

        var share: Double {
            switch self {
            case .usual: 0.8
            case .overload: 3
            case .afterwards: 0.5
            }
        }
    }

    /// Length of the last part.
    static let afterwardsSeconds = 3.0

    /// Requests per second that the server can do.
    let rate: Double

    func rate(of part: Part) -> Double { self.rate * part.share }
}

/// The results of an overload.
struct OverloadFigures: Codable, Sendable {
    struct Step: Codable, Sendable {
        var part: OverloadTest.Part
        /// Requests per second, without retries.
        var rate: Double
        /// Responses per second.
        var answered: Double
        /// For admitted requests, from the arrival of the admitted attempt.
        var p50Milliseconds: Double
        var p99Milliseconds: Double
        var failures: Int
        /// Rejections with a reservation.
        var reserved: Int
        /// Requests that were sent again at that time, and those of them that were admitted.
        var retried: Int
        var retriesAdmitted: Int

        init(_ part: OverloadTest.Part, rate: Double, _ result: LoadResult) {
            let figures = result.measurements.operations.values
            let latencies = result.measurements.latencies
            self.part = part
            self.rate = rate
            self.answered =
                Double(figures.reduce(0) { $0 + $1.responsesInTime }) / max(result.measuredSeconds, 0.001)
            self.p50Milliseconds = latencies.percentile(50)
            self.p99Milliseconds = latencies.percentile(99)
            self.failures = result.measurements.failureCount
            self.reserved = figures.reduce(0) { $0 + $1.reserved }
            self.retried = figures.reduce(0) { $0 + $1.retried }
            self.retriesAdmitted = figures.reduce(0) { $0 + $1.retriesAdmitted }
        }
    }

    var steps: [Step] = []
    /// All requests of each second, over all parts in a row.
    private(set) var seconds: [SecondFigures] = []
    /// The seconds in which the parts begin, except the first.
    private(set) var borders: [Double] = []
    /// From the end of the overload to the last rejection.
    var recoverySeconds = 0.0

    /// Appends a part, with the responses after its end: the next part began after all of them.
    mutating func add(_ outcome: Stage.Outcome) {
        if !self.steps.isEmpty { self.borders.append(Double(self.seconds.count)) }
        let count = max(Int(outcome.seconds.rounded(.up)), outcome.measurements.seconds.count, 1)
        var seconds = Array(repeating: SecondFigures(), count: count)
        for (number, second) in outcome.measurements.seconds.enumerated() {
            for figures in second.values { seconds[number].add(figures) }
        }
        self.seconds += seconds
    }

    private func step(_ part: OverloadTest.Part) -> Step? { self.steps.first { $0.part == part } }

    /// The p99 of the overload, relative to the usual load.
    var p99Ratio: Double {
        guard let usual = self.step(.usual), usual.p99Milliseconds > 0 else { return 0 }
        return (self.step(.overload)?.p99Milliseconds ?? 0) / usual.p99Milliseconds
    }

    /// The admitted part of the requests that were sent at their reserved time; `nil` if there were
    /// none.
    var keptShare: Double? {
        guard let step = self.step(.overload), step.retried > 0 else { return nil }
        return Double(step.retriesAdmitted) / Double(step.retried)
    }
}
