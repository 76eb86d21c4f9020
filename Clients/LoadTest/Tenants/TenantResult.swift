import Foundation

/// The results of one tenant.
struct TenantFigures: Codable, Sendable {
    var number: Int
    var kind: TenantClass
    /// By kind of request.
    var operations: [Measured: Measurements.Figures]
    /// Work in seconds of a server without other requests.
    var workSeconds: Double
    /// Demand in the same unit: as much as its requests at a time could take.
    var demandSeconds: Double
    /// Its part of the work of all tenants.
    var share = 0.0
    /// The part of its max-min fair share that it got, at most 1.
    var satisfaction = 0.0

    var requests: Int { self.operations.values.reduce(0) { $0 + $1.responsesInTime } }
    var failures: Int { self.operations.values.reduce(0) { $0 + $1.failureCount } }
    /// Rejections with a reservation.
    var refusals: Int { self.operations.values.reduce(0) { $0 + $1.reserved } }
    var waitedMilliseconds: Double { self.operations.values.reduce(0) { $0 + $1.waitedMilliseconds } }

    /// All kinds of requests together.
    var latencies: LatencyHistogram {
        self.operations.values.reduce(into: LatencyHistogram()) { $0.add($1.latencies) }
    }
}

/// Jain's indices of a run.
struct TenantIndices: Codable, Sendable {
    /// For the work of the ordinary tenants, who are equal.
    var equalWork: Double
    /// For their 99th percentiles.
    var equalP99: Double
    /// For the satisfaction of all tenants.
    var satisfaction: Double
}

/// All results of a run of many tenants.
struct TenantResult: Sendable {
    var startedAt: Date
    var plan: TenantPlan
    var context: RunContext
    var prices: TenantPrices
    var tenants: [TenantFigures]
    var indices: TenantIndices
    var measuredSeconds: Double
    var isInterrupted: Bool
    var verdict: Verification.Verdict?

    init(
        startedAt: Date,
        plan: TenantPlan,
        context: RunContext,
        classes: [TenantClass],
        prices: TenantPrices,
        _ outcome: TenantStage.Outcome
    ) {
        self.startedAt = startedAt
        self.plan = plan
        self.context = context
        self.prices = prices
        self.measuredSeconds = outcome.seconds
        self.isInterrupted = outcome.isInterrupted
        var tenants = zip(classes, outcome.measurements).enumerated().map { number, tenant in
            TenantFigures(
                number: number,
                kind: tenant.0,
                operations: tenant.1.operations,
                workSeconds: prices.seconds(of: tenant.1, tenant.0.appetite),
                demandSeconds: tenant.0.demandSeconds(in: outcome.seconds, prices)
            )
        }
        let work = tenants.map(\.workSeconds)
        let sum = max(work.reduce(0, +), .leastNormalMagnitude)
        let satisfactions = Fairness.satisfactions(work: work, demands: tenants.map(\.demandSeconds))
        for (number, satisfaction) in satisfactions.enumerated() {
            tenants[number].share = tenants[number].workSeconds / sum
            tenants[number].satisfaction = satisfaction
        }
        self.tenants = tenants
        let equals = tenants.filter { $0.kind == .ordinary }
        self.indices = TenantIndices(
            equalWork: Fairness.jain(equals.map(\.workSeconds)),
            equalP99: Fairness.jain(equals.map { $0.latencies.percentile(99) }),
            satisfaction: Fairness.jain(satisfactions)
        )
    }

    /// Whether the shares of equal tenants were as equal as required.
    var isFair: Bool { self.plan.jainMin.map { self.indices.equalWork >= $0 } ?? true }

    /// The tenants of each class in the run, in ascending order of their work.
    var byClass: [(kind: TenantClass, tenants: [TenantFigures])] {
        TenantClass.allCases.compactMap { kind in
            let tenants = self.tenants.filter { $0.kind == kind }.sorted { $0.workSeconds < $1.workSeconds }
            return tenants.isEmpty ? nil : (kind, tenants)
        }
    }
}

extension TenantClass {
    /// The demand of its requests at a time, each as long as without other requests.
    ///
    /// For bursts, the arrivals.
    func demandSeconds(in seconds: Double, _ prices: TenantPrices) -> Double {
        guard self == .bursts else { return Double(self.atATime) * seconds }
        let milliseconds = prices.milliseconds[self.appetite] ?? [:]
        let weights = Self.ordinaryMix.weights
        let all = weights.values.reduce(0, +)
        // Each step of the mix has one kind.
        let mean = weights.reduce(0) { sum, weight in
            sum + (milliseconds[weight.key.measured] ?? 1) * Double(weight.value) / Double(all)
        }
        return Double(self.atATime) * mean / 1_000 * seconds / Self.burstInterval.seconds
    }
}

/// The rows that text, page and JSON share: for each class the tenants with the least, the median
/// and the most work.
struct TenantRow {
    static let heads = [
        "", "", "requests", "work s", "share %", "of its due %", "rejected", "waited s", "p50 ms", "p99 ms",
        "p99.9 ms", "failed",
    ]

    /// For one class of tenants, in ascending order of their work.
    static func rows(of kind: TenantClass, _ tenants: [TenantFigures]) -> [[String]] {
        let shown: [(String, Int)] =
            switch tenants.count {
            case 1: [("the one", 0)]
            case 2: [("least", 0), ("most", 1)]
            default: [("least", 0), ("median", tenants.count / 2), ("most", tenants.count - 1)]
            }
        return shown.enumerated().map { row, tenant in
            let name = row == 0 ? "\(kind.rawValue) (\(tenants.count))" : ""
            return [name, tenant.0] + self.figures(tenants[tenant.1])
        }
    }

    private static func figures(_ tenant: TenantFigures) -> [String] {
        let latencies = tenant.latencies
        let percentiles =
            latencies.count > 0
            ? [50, 99, 99.9].map { Digits.milliseconds(latencies.percentile($0)) } : ["–", "–", "–"]
        return [
            Digits.count(tenant.requests), Digits.fixed(tenant.workSeconds, 2),
            Digits.fixed(tenant.share * 100, 2), Digits.fixed(tenant.satisfaction * 100, 0),
            Digits.count(tenant.refusals), Digits.fixed(tenant.waitedMilliseconds / 1_000, 1),
        ] + percentiles + [Digits.count(tenant.failures - tenant.refusals)]
    }

    static let kindHeads = [
        "", "", "tenants", "answers", "alone ms", "p50 ms", "p99 ms", "p99.9 ms", "max ms", "rejected",
        "failed",
    ]

    /// For all tenants of a class together, by kind of request.
    static func kinds(of kind: TenantClass, _ tenants: [TenantFigures], _ prices: TenantPrices) -> [[String]]
    {
        var operations: [Measured: Measurements.Figures] = [:]
        for tenant in tenants {
            for (operation, figures) in tenant.operations {
                operations[operation, default: .init()].add(figures)
            }
        }
        return operations.sorted { $0.key < $1.key }.enumerated().map { row, operation in
            let latencies = operation.value.latencies
            let columns =
                latencies.count > 0
                ? ([50, 99, 99.9].map { latencies.percentile($0) } + [latencies.maxMilliseconds])
                    .map { Digits.milliseconds($0) } : ["–", "–", "–", "–"]
            return [
                row == 0 ? kind.rawValue : "", operation.key.rawValue, Digits.count(tenants.count),
                Digits.count(operation.value.responsesInTime),
                Digits.milliseconds(prices.milliseconds[kind.appetite]?[operation.key] ?? 0),
            ] + columns + [
                Digits.count(operation.value.reserved),
                Digits.count(operation.value.failureCount - operation.value.reserved),
            ]
        }
    }
}
