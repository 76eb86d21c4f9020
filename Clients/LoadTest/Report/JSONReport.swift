import Foundation

/// The full report for programs.
///
/// `README.md` in this folder defines each key.
struct JSONReport: Encodable {
    static let version = 1

    struct Milliseconds: Encodable {
        let p50: Double
        let p90: Double
        let p99: Double
        let p999: Double
        let max: Double
        let mean: Double

        private enum CodingKeys: String, CodingKey {
            case p50, p90, p99, max, mean
            case p999 = "p99.9"
        }

        init(_ histogram: LatencyHistogram) {
            self.p50 = histogram.percentile(50)
            self.p90 = histogram.percentile(90)
            self.p99 = histogram.percentile(99)
            self.p999 = histogram.percentile(99.9)
            self.max = histogram.maxMilliseconds
            self.mean = histogram.meanMilliseconds
        }
    }

    struct Operation: Encodable {
        let answers: Int
        let ratePerSecond: Double
        let recordsPerSecond: Double
        let failures: [String: Int]
        let reserved: Int
        let retried: Int
        let retriesAdmitted: Int
        let milliseconds: Milliseconds
        let histogram: LatencyHistogram
    }

    struct Second: Encodable {
        let answers: Int
        let failures: Int
        let p50: Double
        let p99: Double
        let max: Double

        init(_ figures: SecondFigures) {
            self.answers = figures.answers
            self.failures = figures.failures
            let percentiles = figures.percentiles([50, 99, 100])
            (self.p50, self.p99, self.max) = (percentiles[0], percentiles[1], percentiles[2])
        }
    }

    struct Overload: Encodable {
        let steps: [OverloadFigures.Step]
        let p99Ratio: Double
        let keptShare: Double?
        let recoverySeconds: Double
    }

    struct Server: Encodable {
        let seconds: Double
        let commits: Double
        let recordsPerCommit: Double
        let requestsPerCommit: Double
        let increases: [String: Double]
        let levels: [String: ServerFigures.Level]
    }

    let version = JSONReport.version
    let startedAt: Date
    let plan: LoadPlan
    let context: RunContext
    let operations: [Measured: Operation]
    let perSecond: [[Measured: Second]]
    let lateMilliseconds: Milliseconds
    let unsent: Int
    let replaced: Int
    let chaosSeconds: [Double]
    let stallSeconds: [Double]
    let server: Server?
    let verification: Verification.Verdict?
    let ramp: [LoadResult.RampStep]
    let highestRate: Double?
    let overload: Overload?
    let measuredSeconds: Double
    let isInterrupted: Bool

    init(_ result: LoadResult) {
        self.startedAt = result.startedAt
        self.plan = result.plan
        self.context = result.context
        self.operations = result.measurements.operations.mapValues { figures in
            Operation(
                answers: figures.responsesInTime,
                ratePerSecond: result.rate(figures),
                recordsPerSecond: result.recordRate(figures),
                failures: figures.failures,
                reserved: figures.reserved,
                retried: figures.retried,
                retriesAdmitted: figures.retriesAdmitted,
                milliseconds: Milliseconds(figures.latencies),
                histogram: figures.latencies
            )
        }
        self.perSecond = result.measurements.seconds.map { $0.mapValues { Second($0) } }
        self.lateMilliseconds = Milliseconds(result.measurements.lateness)
        self.unsent = result.measurements.unsent
        self.replaced = result.measurements.replaced
        self.chaosSeconds = result.chaosSeconds
        self.stallSeconds = result.stallSeconds
        self.server = result.server.map { server in
            Server(
                seconds: server.seconds,
                commits: server.commits,
                recordsPerCommit: server.recordsPerCommit,
                requestsPerCommit: server.requestsPerCommit,
                increases: server.increases,
                levels: server.levels
            )
        }
        self.verification = result.verdict
        self.ramp = result.ramp
        self.highestRate = result.highestRate
        self.overload = result.overload.map { overload in
            Overload(
                steps: overload.steps,
                p99Ratio: overload.p99Ratio,
                keptShare: overload.keptShare,
                recoverySeconds: overload.recoverySeconds
            )
        }
        self.measuredSeconds = result.measuredSeconds
        self.isInterrupted = result.isInterrupted
    }

    func data() throws -> Data {
        try JSONEncoder.ofReports().encode(self)
    }
}

extension JSONEncoder {
    /// The common form of all reports: sorted keys, indented, dates in ISO 8601.
    static func ofReports() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
        encoder.dateEncodingStrategy = .iso8601
        return encoder
    }
}
