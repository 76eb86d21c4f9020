import Foundation

/// One self-contained page, without other files, network or scripts.
///
/// From the top: the main results in large figures, the tables, the charts, and a description of
/// the run.
struct HTMLReport {
    let result: LoadResult

    var text: String {
        let name = HTMLText.escaped("tidemark-load \(self.result.plan.workload)")
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(HTMLText.escaped(self.title))</title>
            <style>
            \(Self.style)
            </style>
            </head>
            <body>
            <h1>\(name)\(self.mode)</h1>
            <p class="subtitle">\(HTMLText.escaped(self.subtitle))</p>
            <p class="subtitle">\(HTMLText.escaped(self.location))</p>
            \(self.warning)
            \(self.figures.map(\.text).joined(separator: "\n", within: "<div class=\"figures\">", "</div>"))
            \(self.verdict)
            \(self.overload)
            \(self.ramp)
            \(self.latencies)
            \(self.sections.joined(separator: "\n"))
            \(self.counters)
            \(self.configuration)
            </body>
            </html>

            """
    }

    // MARK: Head

    /// Tells reports apart in a list of windows, or on paper.
    private var title: String {
        "\(self.result.plan.workload)\(self.mode.isEmpty ? "" : self.mode + ",") \(self.load) – \(self.startedAt)"
            + " – tidemark-load"
    }

    private var mode: String {
        self.result.overload != nil ? ", overload" : self.result.ramp.isEmpty ? "" : ", ramp"
    }

    private var startedAt: String {
        self.result.startedAt.formatted(
            .iso8601.year().month().day().dateTimeSeparator(.space).time(includingFractionalSeconds: false)
        ) + " UTC"
    }

    /// The requested load.
    private var load: String {
        let plan = self.result.plan
        if let overload = self.result.overload {
            return overload.steps.map { "\(Digits.rate($0.rate))" }.joined(separator: ", then ")
                + " per second"
        }
        if !self.result.ramp.isEmpty {
            let rates = self.result.ramp.map(\.rate)
            return "\(Digits.rate(rates.min() ?? 0)) to \(Digits.rate(rates.max() ?? 0)) per second"
        }
        return plan.rate.map { "\(Digits.rate($0)) per second" } ?? "closed loop"
    }

    private var subtitle: String {
        let plan = self.result.plan
        let connections = plan.connections * plan.processes
        let seconds = Digits.rate(self.result.measuredSeconds)
        return "\(self.startedAt) · \(self.load) · \(Digits.count(connections)) connections · "
            + "\(seconds) s measured"
    }

    private var location: String {
        let context = self.result.context
        return "\(context.server) at \(context.address) · load from \(context.host): "
            + "\(context.processors) processors, \(context.system)"
    }

    private var warning: String {
        guard self.result.context.isDebugBuild else { return "" }
        return
            "<p class=\"warning\">A debug build was measured: several times slower than what people run.</p>"
    }

    // MARK: Tables

    private var verdict: String {
        guard let verdict = self.result.verdict, !verdict.isGood else { return "" }
        let records =
            "\(Digits.count(verdict.records)) records read back by feed, feed since the start and fetch"
        let rows = verdict.violations.first.prefix(50).map {
            [$0.recordName, $0.kind.rawValue, $0.reading, $0.expected, $0.found]
        }
        let heads = ["record", "", "read by", "expected", "found"]
        return
            "<p class=\"bad\">Not verified: \(records); \(Digits.count(verdict.violations.count)) are wrong.</p>"
            + HTMLTable(heads: heads, rows: Array(rows), isText: true).text
    }

    private var overload: String {
        guard let overload = self.result.overload else { return "" }
        let rows = overload.steps.map { step in
            [
                step.part.rawValue, Digits.rate(step.rate), Digits.rate(step.answered),
                Digits.count(step.failures), Digits.count(step.reserved), Digits.count(step.retried),
                Digits.count(step.retriesAdmitted), Digits.milliseconds(step.p50Milliseconds),
                Digits.milliseconds(step.p99Milliseconds),
            ]
        }
        let heads = [
            "", "requested per second", "answered per second", "rejected", "reserved", "sent again",
            "then admitted",
            "p50 ms", "p99 ms",
        ]
        let charts = self.overloadCharts(overload).map(\.svg).joined(separator: "\n")
        return "<section><h2>Overload</h2>" + HTMLTable(heads: heads, rows: rows).text
            + "<p class=\"note\">p50 and p99 are of admitted requests, from the arrival of the admitted attempt.</p>"
            + "<div class=\"charts\">\(charts)</div></section>"
    }

    private var ramp: String {
        guard !self.result.ramp.isEmpty else { return "" }
        let rows = self.result.ramp.map { step in
            [
                Digits.rate(step.rate), Digits.rate(step.answered), Digits.count(step.failures),
                Digits.milliseconds(step.p50Milliseconds), Digits.milliseconds(step.p99Milliseconds),
                step.held ? "held" : "too much",
            ]
        }
        let heads = ["requested per second", "answered per second", "failed", "p50 ms", "p99 ms", ""]
        return "<section><h2>Ramp</h2><div class=\"beside\">" + HTMLTable(heads: heads, rows: rows).text
            + self.rampChart.svg + "</div></section>"
    }

    private var latencies: String {
        let rows = self.result.rows.map { name, figures in
            [
                name, Digits.count(figures.responsesInTime), Digits.rate(self.result.rate(figures)),
                Digits.rate(self.result.recordRate(figures)), Digits.count(figures.failureCount),
            ] + figures.latencies.columns
        }
        let heads = [
            "", "answers", "per second", "records/s", "failed", "p50 ms", "p90 ms", "p99 ms", "p99.9 ms",
            "max ms",
        ]
        var parts = ["<h2>\(self.latenciesHead)</h2>", HTMLTable(heads: heads, rows: rows).text]
        let few = self.result.operations.filter { (1..<100).contains($0.figures.latencies.count) }
        if !few.isEmpty {
            let kinds = few.map(\.kind.rawValue).joined(separator: ", ")
            parts.append(
                "<p class=\"note\">\(kinds): fewer than 100 responses, so p99 is the slowest.</p>"
            )
        }
        parts += TextReport(result: self.result).notes.map {
            "<p class=\"note\">\(HTMLText.escaped($0))</p>"
        }
        let failures = self.result.operations.flatMap { kind, figures in
            figures.failures.sorted { $0.value > $1.value }.map {
                [$0.key, kind.rawValue, Digits.count($0.value)]
            }
        }
        var tables: [String] = []
        if !failures.isEmpty {
            tables.append(
                HTMLTable(heads: ["failed because of", "", "times"], rows: failures, isText: true).text
            )
        }
        if let server = self.result.server, server.seconds > 0 { tables.append(self.server(server)) }
        if !tables.isEmpty { parts.append("<div class=\"pair\">\(tables.joined(separator: "\n"))</div>") }
        return "<section>" + parts.joined(separator: "\n") + "</section>"
    }

    /// For a run of several parts: names the part.
    private var latenciesHead: String {
        if let step = self.result.overload?.steps.first(where: { $0.part == .overload }) {
            return "Requests of the overload, at \(Digits.rate(step.rate)) per second"
        }
        guard let first = self.result.ramp.first else { return "Requests" }
        let rate = self.result.highestRate ?? first.rate
        return "Requests at \(Digits.rate(rate)) per second, "
            + (self.result.highestRate == nil ? "the first rate" : "the highest rate that held")
    }

    private func server(_ server: ServerFigures) -> String {
        let waiting = server.levels["tidemark_requests_waiting"] ?? .init()
        let rows = [
            ["commits, an fsync each", Digits.count(Int(server.commits))],
            ["commits per second", Digits.rate(server.commits / server.seconds)],
            ["records per commit", Digits.fixed(server.recordsPerCommit, 1)],
            ["requests per commit", Digits.fixed(server.requestsPerCommit, 1)],
            ["requests waiting for the writer, on average", Digits.fixed(waiting.mean, 1)],
            ["requests waiting for the writer, at most", Digits.count(Int(waiting.max))],
        ]
        return HTMLTable(heads: ["the server's own metrics", ""], rows: rows, isText: true).text
    }

    /// All metrics of the server.
    ///
    /// They are folded, and not printed on paper.
    private var counters: String {
        let counters = self.result.server?.increases.filter { $0.value > 0 }.sorted { $0.key < $1.key } ?? []
        guard !counters.isEmpty else { return "" }
        let rows = counters.map { [MetricName.words($0.key), Digits.count(Int($0.value))] }
        return "<details><summary>The server's counters: \(rows.count)</summary>"
            + HTMLTable(heads: ["", "in the measured time"], rows: rows, isText: true).text + "</details>"
    }

    private var configuration: String {
        let rows = RunDescription(result: self.result).rows.map { [$0.name, $0.text] }
        return "<section><h2>What was measured</h2>"
            + HTMLTable(heads: [], rows: rows, isText: true).text + "</section>"
    }
}

extension [String] {
    fileprivate func joined(separator: String, within start: String, _ end: String) -> String {
        start + self.joined(separator: separator) + end
    }
}
