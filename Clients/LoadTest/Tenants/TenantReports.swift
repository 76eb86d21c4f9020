import Foundation

/// The report for people that a run of tenants prints at its end.
struct TenantText {
    private static let violationsShown = 20

    let result: TenantResult

    var text: String {
        var shares = TextTable(TenantRow.heads)
        var kinds = TextTable(TenantRow.kindHeads)
        for (kind, tenants) in self.result.byClass {
            for row in TenantRow.rows(of: kind, tenants) { shares.add(row) }
            for row in TenantRow.kinds(of: kind, tenants, self.result.prices) { kinds.add(row) }
        }
        var parts = [shares.lines, kinds.lines, self.indices, self.verdict]
        if self.result.isInterrupted {
            let seconds = Digits.fixed(self.result.measuredSeconds, 1)
            parts.append(["interrupted after \(seconds) s of the measured time; nothing was verified"])
        }
        if self.result.context.isDebugBuild {
            parts.append(["A debug build was measured, which is several times slower than what people run."])
        }
        return parts.filter { !$0.isEmpty }.map { $0.joined(separator: "\n") }.joined(separator: "\n\n")
            + "\n"
    }

    private var indices: [String] {
        let indices = self.result.indices
        let count = self.result.byClass.first { $0.kind == .ordinary }?.tenants.count ?? 0
        let least = self.result.plan.jainMin.map {
            " (at least \(Digits.fixed($0, 3)) is required\(self.result.isFair ? "" : ": NOT REACHED"))"
        }
        return [
            "Jain's index of the \(count) ordinary tenants: \(Digits.fixed(indices.equalWork, 4)) by work\(least ?? ""), "
                + "\(Digits.fixed(indices.equalP99, 4)) by p99",
            "Jain's index of all \(self.result.tenants.count), by the part of its max-min fair share that each got: "
                + Digits.fixed(indices.satisfaction, 4),
        ]
    }

    private var verdict: [String] {
        guard let verdict = self.result.verdict else { return [] }
        let compared =
            "\(Digits.count(verdict.records)) records read back by feed, feed since the start and fetch"
        guard !verdict.isGood else { return ["verified: \(compared); none lost, duplicated or stale"] }
        return ["NOT VERIFIED: \(compared); \(Digits.count(verdict.violations.count)) are wrong:"]
            + verdict.violations.first.prefix(Self.violationsShown).map { "  " + $0.line }
    }
}

/// The full report for programs.
///
/// `README.md` of the load test defines each key.
struct TenantJSON: Encodable {
    struct Tenant: Encodable {
        let number: Int
        let kind: TenantClass
        let requestsAtATime: Int
        let requests: Int
        let workSeconds: Double
        let demandSeconds: Double
        let share: Double
        let satisfaction: Double
        let refusals: Int
        let waitedMilliseconds: Double
        let failures: [String: Int]
        let milliseconds: JSONReport.Milliseconds
        let operations: [Measured: Operation]

        private enum CodingKeys: String, CodingKey {
            case number, requestsAtATime, requests, workSeconds, demandSeconds, share, satisfaction
            case refusals, waitedMilliseconds, failures, milliseconds, operations
            case kind = "class"
        }

        init(_ tenant: TenantFigures) {
            self.number = tenant.number
            self.kind = tenant.kind
            self.requestsAtATime = tenant.kind.atATime
            self.requests = tenant.requests
            self.workSeconds = tenant.workSeconds
            self.demandSeconds = tenant.demandSeconds
            self.share = tenant.share
            self.satisfaction = tenant.satisfaction
            self.refusals = tenant.refusals
            self.waitedMilliseconds = tenant.waitedMilliseconds
            self.failures = tenant.operations.values.reduce(into: [:]) {
                $0.merge($1.failures, uniquingKeysWith: +)
            }
            self.milliseconds = JSONReport.Milliseconds(tenant.latencies)
            self.operations = tenant.operations.mapValues { figures in
                Operation(
                    answers: figures.responsesInTime,
                    records: figures.records,
                    milliseconds: JSONReport.Milliseconds(figures.latencies)
                )
            }
        }
    }

    struct Operation: Encodable {
        let answers: Int
        let records: Int
        let milliseconds: JSONReport.Milliseconds
    }

    let version = JSONReport.version
    let startedAt: Date
    let plan: TenantPlan
    let context: RunContext
    let prices: [TenantClass.Appetite: [Measured: Double]]
    let tenants: [Tenant]
    let jain: TenantIndices
    let verification: Verification.Verdict?
    let measuredSeconds: Double
    let isInterrupted: Bool

    init(_ result: TenantResult) {
        self.startedAt = result.startedAt
        self.plan = result.plan
        self.context = result.context
        self.prices = result.prices.milliseconds
        self.tenants = result.tenants.map { Tenant($0) }
        self.jain = result.indices
        self.verification = result.verdict
        self.measuredSeconds = result.measuredSeconds
        self.isInterrupted = result.isInterrupted
    }

    func data() throws -> Data {
        try JSONEncoder.ofReports().encode(self)
    }
}

/// One self-contained page, without other files, network or scripts.
struct TenantPage {
    let result: TenantResult

    var text: String {
        let context = self.result.context
        let count = Digits.count(self.result.tenants.count)
        let seconds = Digits.rate(self.result.measuredSeconds)
        let startedAt = self.result.startedAt.formatted(.iso8601)
        let location =
            "\(context.server) at \(context.address) · load from \(context.host): "
            + "\(context.processors) processors, \(context.system)"
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(count) tenants – \(HTMLText.escaped(startedAt)) – tidemark-load</title>
            <style>
            \(HTMLReport.style)
            </style>
            </head>
            <body>
            <h1>tidemark-load tenants</h1>
            <p class="subtitle">\(HTMLText.escaped(startedAt)) · \(count) tenants · \(seconds) s measured</p>
            <p class="subtitle">\(HTMLText.escaped(location))</p>
            \(self.warning)
            <div class="figures">\(self.figures.map(\.text).joined(separator: "\n"))</div>
            \(self.charts)
            \(self.tables)
            \(self.configuration)
            </body>
            </html>

            """
    }

    private var warning: String {
        guard self.result.context.isDebugBuild else { return "" }
        return
            "<p class=\"warning\">A debug build was measured: several times slower than what people run.</p>"
    }

    private var figures: [LargeFigure] {
        let indices = self.result.indices
        var figures = [
            LargeFigure(
                number: Digits.fixed(indices.equalWork, 3),
                caption: "Jain's index of the ordinary tenants, by work",
                mood: self.result.plan.jainMin == nil ? .plain : self.result.isFair ? .good : .bad
            ),
            LargeFigure(
                number: Digits.fixed(indices.equalP99, 3),
                caption: "Jain's index of the ordinary tenants, by p99"
            ),
            LargeFigure(
                number: Digits.fixed(indices.satisfaction, 3),
                caption: "Jain's index of all, by the part of its max-min fair share that each got"
            ),
        ]
        if let verdict = self.result.verdict {
            figures.append(
                LargeFigure(
                    number: verdict.isGood ? "✓" : Digits.count(verdict.violations.count),
                    caption: verdict.isGood
                        ? "verified: \(Digits.count(verdict.records)) records, none lost, duplicated or stale"
                        : "records differ from what was acknowledged",
                    mood: verdict.isGood ? .good : .bad
                )
            )
        }
        return figures
    }

    /// The results of each tenant, with the greedier ones further to the right.
    private var charts: String {
        let tenants = self.result.byClass.flatMap(\.tenants)
        func chart(_ title: String, _ unit: String, _ value: (TenantFigures) -> Double) -> String {
            let highest = tenants.map(value).max() ?? 0
            return Chart(
                title: title,
                x: .linear(to: Double(tenants.count)),
                y: .linear(to: max(highest, 0.001)),
                unitOfX: "tenant, in the order of the table",
                unitOfY: unit,
                bars: tenants.enumerated().map { index, tenant in
                    Chart.Bar(from: Double(index), to: Double(index + 1), height: value(tenant))
                }
            ).svg
        }
        let shares = chart("share of the work", "%") { $0.share * 100 }
        let p99 = chart("p99", "ms") { $0.latencies.percentile(99) }
        return "<div class=\"charts\">\(shares)\n\(p99)</div>"
    }

    private var tables: String {
        let shares = self.result.byClass.flatMap { TenantRow.rows(of: $0.kind, $0.tenants) }
        let kinds = self.result.byClass.flatMap {
            TenantRow.kinds(of: $0.kind, $0.tenants, self.result.prices)
        }
        return "<section><h2>Tenants: those of each class with the least, the median and the most work</h2>"
            + HTMLTable(heads: TenantRow.heads, rows: shares).text
            + "<p class=\"note\">\(HTMLText.escaped(Self.note))</p></section>"
            + "<section><h2>Requests</h2>" + HTMLTable(heads: TenantRow.kindHeads, rows: kinds).text
            + "</section>"
    }

    private static let note =
        "Work is in seconds of a server without other requests: each response counts as long as such a request took alone (alone ms). "
        + "A tenant's due is its max-min fair share of all work that was done. Latencies count from the first attempt."

    private var configuration: String {
        let plan = self.result.plan
        let classes = self.result.byClass.map { "\($0.tenants.count) \($0.kind.rawValue)" }
        let rows = [
            ["tenants", classes.joined(separator: ", ")],
            [
                "time",
                "\(Digits.fixed(self.result.measuredSeconds, 1)) s measured, after \(Digits.fixed(plan.warmUpSeconds, 1)) s of warm-up",
            ],
            ["records", "\(Digits.count(plan.recordBytes)) bytes each"], ["seed", "\(plan.seed)"],
            ["container", "\(self.result.context.container), \(self.result.context.environment)"],
            ["tidemark-load", self.result.context.version], ["command", self.result.context.commandLine],
        ]
        return "<section><h2>What was measured</h2>" + HTMLTable(heads: [], rows: rows, isText: true).text
            + "</section>"
    }
}
