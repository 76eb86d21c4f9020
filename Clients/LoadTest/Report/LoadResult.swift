import Foundation

/// All results of a run.
struct LoadResult: Codable, Sendable {
    /// A step of `--ramp`.
    struct RampStep: Codable, Sendable {
        var rate: Double
        /// Responses per second.
        var answered: Double
        var p50Milliseconds: Double
        var p99Milliseconds: Double
        var failures: Int
        var held: Bool
    }

    var startedAt: Date
    var plan: LoadPlan
    var context: RunContext
    var measurements: Measurements
    var server: ServerFigures?
    var chaosSeconds: [Double] = []
    var verdict: Verification.Verdict?
    var ramp: [RampStep] = []
    var overload: OverloadFigures?
    /// The actual length of the measured time.
    var measuredSeconds: Double
    var isInterrupted: Bool
    /// Why the command of `--chaos` failed.
    var chaosFailure: String?

    init(startedAt: Date, plan: LoadPlan, context: RunContext, _ outcome: Stage.Outcome) {
        self.startedAt = startedAt
        self.plan = plan
        self.context = context
        self.measurements = outcome.measurements
        self.server = outcome.server
        self.chaosSeconds = outcome.chaosSeconds
        self.measuredSeconds = outcome.seconds
        self.isInterrupted = outcome.isInterrupted
        self.chaosFailure = outcome.failure?.message
    }

    var highestRate: Double? { self.ramp.filter(\.held).map(\.rate).max() }

    /// The longest stall of a connection after each run of the chaos command, in seconds.
    var stallSeconds: [Double] { self.measurements.stalls.longest(after: self.chaosSeconds) }

    /// Adds the results of another process of the same run.
    mutating func add(_ other: LoadResult) {
        self.measurements.add(other.measurements)
        self.chaosSeconds = (self.chaosSeconds + other.chaosSeconds).sorted()
        self.isInterrupted = self.isInterrupted || other.isInterrupted
        self.chaosFailure = self.chaosFailure ?? other.chaosFailure
        if let verdict = other.verdict { self.verdict?.add(verdict) }
    }

    /// The kinds of requests of the run, in their order, also those that did not occur.
    var operations: [(kind: Measured, figures: Measurements.Figures)] {
        let kinds = self.plan.mix.measured.union(self.measurements.operations.keys)
        return kinds.sorted().map { ($0, self.measurements.operations[$0] ?? .init()) }
    }

    /// All kinds of requests together.
    var total: Measurements.Figures {
        self.measurements.operations.values.reduce(into: Measurements.Figures()) { $0.add($1) }
    }

    /// The rows of a table: each kind of request, and all together if there are several.
    var rows: [(name: String, figures: Measurements.Figures)] {
        let rows = self.operations.map { ($0.kind.rawValue, $0.figures) }
        return rows.count > 1 ? rows + [("all", self.total)] : rows
    }

    /// Whether a failed request is a finding, rather than what the run was made for.
    var expectsNoFailure: Bool {
        self.plan.chaos == nil && !self.plan.retries && self.ramp.isEmpty && self.overload == nil
    }

    /// The kind with the highest p99, of those with responses.
    var slowest: (kind: Measured, p99Milliseconds: Double)? {
        self.operations.filter { $0.figures.latencies.count > 0 }
            .map { ($0.kind, $0.figures.latencies.percentile(99)) }.max { $0.1 < $1.1 }
    }

    func rate(_ figures: Measurements.Figures) -> Double {
        Double(figures.responsesInTime) / max(self.measuredSeconds, 0.001)
    }

    func recordRate(_ figures: Measurements.Figures) -> Double {
        Double(figures.records) / max(self.measuredSeconds, 0.001)
    }
}

extension Verification.Verdict {
    mutating func add(_ other: Self) {
        self.records += other.records
        self.uncertain += other.uncertain
        self.feedEnds += other.feedEnds
        self.violations.add(other.violations)
    }
}
