/// Asks for three times what a server can do, and for less before and afterwards.
struct OverloadTest: Sendable {
    /// A part of it: what it is called, and how much of the rate it asks for.
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

    /// For how long the last part goes on.
    static let afterwardsSeconds = 3.0

    /// Requests a second that the server can do.
    let rate: Double

    func rate(of part: Part) -> Double { self.rate * part.share }
}

/// What came of an overload.
struct OverloadFigures: Codable, Sendable {
    struct Step: Codable, Sendable {
        var part: OverloadTest.Part
        /// Requests a second that were asked for, retries not counted.
        var rate: Double
        /// Answers a second.
        var answered: Double
        /// Of requests that were admitted, from the arrival of the try that was.
        var p50Milliseconds: Double
        var p99Milliseconds: Double
        var failures: Int
        /// Refusals that named a time at which the request will be admitted.
        var reserved: Int
        /// Requests that came at that time, and those of them that were admitted.
        var retried: Int
        var retriesAdmitted: Int

        init(_ part: OverloadTest.Part, rate: Double, _ result: LoadResult) {
            let figures = result.measurements.operations.values
            let latencies = result.measurements.latencies
            self.part = part
            self.rate = rate
            self.answered =
                Double(figures.reduce(0) { $0 + $1.answersInTime }) / max(result.measuredSeconds, 0.001)
            self.p50Milliseconds = latencies.percentile(50)
            self.p99Milliseconds = latencies.percentile(99)
            self.failures = result.measurements.failureCount
            self.reserved = figures.reduce(0) { $0 + $1.reserved }
            self.retried = figures.reduce(0) { $0 + $1.retried }
            self.retriesAdmitted = figures.reduce(0) { $0 + $1.retriesAdmitted }
        }
    }

    var steps: [Step] = []
    /// Of all requests together, in each second of all parts, one part behind the other.
    private(set) var seconds: [SecondFigures] = []
    /// The seconds in which each part but the first begins.
    private(set) var borders: [Double] = []
    /// From the end of the overload to the last refusal.
    var recoverySeconds = 0.0

    /// Appends a part, and what was answered after its end: the next one began when all of that had come.
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

    /// The p99 of the overload in those of the usual load.
    var p99Ratio: Double {
        guard let usual = self.step(.usual), usual.p99Milliseconds > 0 else { return 0 }
        return (self.step(.overload)?.p99Milliseconds ?? 0) / usual.p99Milliseconds
    }

    /// Of those who came at their time, who were admitted; `nil`: nobody came.
    var keptShare: Double? {
        guard let step = self.step(.overload), step.retried > 0 else { return nil }
        return Double(step.retriesAdmitted) / Double(step.retried)
    }
}
