import Foundation

/// Everything that came of a run.
struct LoadResult: Codable, Sendable {
    /// A step of `--ramp`.
    struct RampStep: Codable, Sendable {
        var rate: Double
        /// Answers a second.
        var answered: Double
        var p50Milliseconds: Double
        var p99Milliseconds: Double
        var failures: Int
        var held: Bool
    }

    var startedAt: Date
    var plan: LoadPlan
    var measurements: Measurements
    var server: ServerFigures?
    var chaosSeconds: [Double] = []
    var verdict: Verification.Verdict?
    var ramp: [RampStep] = []
    var overload: OverloadFigures?
    /// Of the measured time, as long as it was.
    var measuredSeconds: Double
    var isInterrupted: Bool
    /// Why the command of `--chaos` failed.
    var chaosFailure: String?

    init(startedAt: Date, plan: LoadPlan, _ outcome: Stage.Outcome) {
        self.startedAt = startedAt
        self.plan = plan
        self.measurements = outcome.measurements
        self.server = outcome.server
        self.chaosSeconds = outcome.chaosSeconds
        self.measuredSeconds = outcome.seconds
        self.isInterrupted = outcome.isInterrupted
        self.chaosFailure = outcome.failure?.message
    }

    var highestRate: Double? { self.ramp.filter(\.held).map(\.rate).max() }

    /// What another process of the same run has measured meanwhile.
    mutating func add(_ other: LoadResult) {
        self.measurements.add(other.measurements)
        self.chaosSeconds = (self.chaosSeconds + other.chaosSeconds).sorted()
        self.isInterrupted = self.isInterrupted || other.isInterrupted
        self.chaosFailure = self.chaosFailure ?? other.chaosFailure
        if let verdict = other.verdict { self.verdict?.add(verdict) }
    }

    /// Kinds of requests that there were, in their order.
    var operations: [(kind: Measured, figures: Measurements.Figures)] {
        self.measurements.operations.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    func rate(_ figures: Measurements.Figures) -> Double {
        Double(figures.answersInTime) / max(self.measuredSeconds, 0.001)
    }

    func recordRate(_ figures: Measurements.Figures) -> Double {
        Double(figures.records) / max(self.measuredSeconds, 0.001)
    }
}

extension Verification.Verdict {
    mutating func add(_ other: Self) {
        self.records += other.records
        self.uncertain += other.uncertain
        self.violations.add(other.violations)
    }
}
