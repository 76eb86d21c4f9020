import Foundation

/// One page with everything, that needs no other file, no network and no script.
struct HTMLReport {
    let result: LoadResult

    var text: String {
        let title = "tidemark-load \(self.result.plan.workload)"
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(HTMLText.escaped(title))</title>
            <style>
            \(Self.style)
            </style>
            </head>
            <body>
            <h1>\(HTMLText.escaped(title))</h1>
            <p class="subtitle">\(HTMLText.escaped(self.subtitle))</p>
            \(self.summary)
            \(self.ramp)
            \(self.sections.joined(separator: "\n"))
            \(self.counters)
            \(self.configuration)
            </body>
            </html>

            """
    }

    private var subtitle: String {
        let plan = self.result.plan
        let rate = plan.rate.map { "\(Digits.rate($0)) requests a second, \(plan.arrivals.rawValue)" }
        return self.result.startedAt.formatted(.iso8601) + " · "
            + (rate ?? "closed loop, \(plan.underWayMax) a connection") + " · "
            + "\(plan.connections * plan.processes) connections · \(Digits.rate(plan.durationSeconds)) s"
    }

    // MARK: Tables

    private var summary: String {
        let heads = ["", "a second", "failed", "p50", "p90", "p99", "p99.9", "max ms"]
        let rows = self.result.operations.map { kind, figures in
            [
                kind.rawValue, Digits.rate(self.result.rate(figures)), Digits.count(figures.failureCount),
            ] + [50, 90, 99, 99.9].map { Digits.milliseconds(figures.latencies.percentile($0)) }
                + [Digits.milliseconds(figures.latencies.maxMilliseconds)]
        }
        var parts = ["<h2>Latencies</h2>", HTMLTable(heads: heads, rows: rows).text]
        let failures = self.result.operations.flatMap { kind, figures in
            figures.failures.sorted { $0.value > $1.value }.map {
                [$0.key, kind.rawValue, Digits.count($0.value)]
            }
        }
        if !failures.isEmpty {
            parts.append(
                HTMLTable(heads: ["failed because of", "", "times"], rows: failures, isText: true).text
            )
        }
        if let verdict = self.result.verdict { parts.append(self.verdict(verdict)) }
        if !self.result.chaosSeconds.isEmpty {
            parts.append(
                "<p>Dotted lines: the command of --chaos ran, \(Digits.count(self.result.chaosSeconds.count)) times.</p>"
            )
        }
        if let server = self.result.server, server.seconds > 0 { parts.append(self.server(server)) }
        return parts.joined(separator: "\n")
    }

    private func verdict(_ verdict: Verification.Verdict) -> String {
        let records = "\(Digits.count(verdict.records)) records read back"
        guard !verdict.isGood else {
            return "<p class=\"good\">Verified: \(records); none lost, doubled or stale.</p>"
        }
        let rows = verdict.violations.first.prefix(50).map {
            [$0.recordName, $0.kind.rawValue, $0.reading, $0.expected, $0.found]
        }
        let heads = ["record", "", "read by", "expected", "found"]
        return
            "<p class=\"bad\">Not verified: \(records), \(Digits.count(verdict.violations.count)) are wrong.</p>"
            + HTMLTable(heads: heads, rows: Array(rows), isText: true).text
    }

    private func server(_ server: ServerFigures) -> String {
        let waiting = server.levels["tidemark_requests_waiting"] ?? .init()
        let rows = [
            ["commits, an fsync each", Digits.count(Int(server.commits))],
            ["a second", Digits.rate(server.commits / server.seconds)],
            ["records a commit", Digits.fixed(server.recordsPerCommit, 1)],
            ["requests a commit", Digits.fixed(server.requestsPerCommit, 1)],
            ["writer's queue, on average", Digits.fixed(waiting.mean, 1)],
            ["writer's queue, at most", Digits.count(Int(waiting.max))],
        ]
        return "<h2>Server</h2>" + HTMLTable(heads: ["", "in the measured time"], rows: rows).text
    }

    /// All that the server counts.
    private var counters: String {
        let counters = self.result.server?.increases.filter { $0.value > 0 }.sorted { $0.key < $1.key } ?? []
        guard !counters.isEmpty else { return "" }
        let rows = counters.map { [$0.key, Digits.count(Int($0.value))] }
        return "<h2>The server's counters</h2>"
            + HTMLTable(heads: ["", "in the measured time"], rows: rows, isText: true).text
    }

    private var configuration: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let data = (try? encoder.encode(self.result.plan)) ?? Data()
        let object = (try? JSONSerialization.jsonObject(with: data)) as? [String: Any] ?? [:]
        let rows = object.keys.sorted().map { key in [key, "\(object[key] ?? "")"] }.filter { $0[0] != "mix" }
        let weights = self.result.plan.mix.weights.sorted { $0.value > $1.value }
            .map { ["mix: \($0.key.rawValue)", "\($0.value)"] }
        return "<h2>Configuration</h2>" + HTMLTable(heads: ["", ""], rows: rows + weights, isText: true).text
    }

    // MARK: Pictures

    private var ramp: String {
        guard !self.result.ramp.isEmpty else { return "" }
        let steps = self.result.ramp.sorted { $0.rate < $1.rate }
        let p99 = steps.map(\.p99Milliseconds)
        let chart = Chart(
            title: "p99 by rate",
            x: .linear(to: steps.map(\.rate).max() ?? 1),
            y: .logarithmic(p99.min() ?? 1, p99.max() ?? 1),
            unitOfX: "requests a second",
            unitOfY: "ms",
            lines: [Chart.Line(name: "p99", points: steps.map { ($0.rate, $0.p99Milliseconds) })],
            marks: self.result.highestRate.map { [$0] } ?? []
        )
        let highest = self.result.highestRate.map {
            "The highest rate that held: \(Digits.rate($0)) a second."
        }
        return "<h2>Ramp</h2><p>\(highest ?? "No rate held.")</p><div class=\"charts\">\(chart.svg)</div>"
    }

    private var sections: [String] {
        self.result.operations.map { kind, figures in
            let charts = [self.rateChart(kind), self.latencyChart(kind), self.histogram(figures.latencies)]
            return "<section><h2>\(kind.rawValue)</h2><div class=\"charts\">"
                + charts.map(\.svg).joined(separator: "\n") + "</div></section>"
        }
    }

    private func seconds(_ kind: Measured) -> [SecondFigures?] {
        self.result.measurements.seconds.map { $0[kind] }
    }

    private var timeAxis: Axis { .linear(to: Double(max(1, self.result.measurements.seconds.count))) }

    private func rateChart(_ kind: Measured) -> Chart {
        let seconds = self.seconds(kind)
        let answers = seconds.map { Double($0?.answers ?? 0) }
        let failures = seconds.map { Double($0?.failures ?? 0) }
        func line(_ name: String, _ values: [Double]) -> Chart.Line {
            Chart.Line(name: name, points: values.enumerated().map { (Double($0) + 0.5, $1) })
        }
        var lines = [line("answers", answers)]
        if failures.contains(where: { $0 > 0 }) { lines.append(line("failed", failures)) }
        return Chart(
            title: "Throughput",
            x: self.timeAxis,
            y: .linear(to: (answers + failures).max() ?? 1),
            unitOfX: "seconds",
            unitOfY: "answers a second",
            lines: lines,
            marks: self.result.chaosSeconds
        )
    }

    private func latencyChart(_ kind: Measured) -> Chart {
        let percents = [50.0, 99, 100]
        let values = self.seconds(kind).map { second -> [Double]? in
            second.flatMap { $0.answers == 0 ? nil : $0.percentiles(percents) }
        }
        let all = values.compactMap { $0 }.flatMap { $0 }.filter { $0 > 0 }
        let names = ["p50", "p99", "max"]
        return Chart(
            title: "Latency",
            x: self.timeAxis,
            y: .logarithmic(all.min() ?? 1, all.max() ?? 1),
            unitOfX: "seconds",
            unitOfY: "ms",
            lines: names.indices.map { index in
                Chart.Line(
                    name: names[index],
                    points: values.enumerated().map { second, values in
                        values.map { (Double(second) + 0.5, $0[index]) }
                    }
                )
            },
            marks: self.result.chaosSeconds
        )
    }

    /// Ten bars for each power of ten.
    private func histogram(_ latencies: LatencyHistogram) -> Chart {
        var counts: [Int: UInt64] = [:]
        for (microseconds, count) in latencies.recorded {
            let milliseconds = Double(max(1, microseconds)) / 1_000
            counts[Int((log10(milliseconds) * 10).rounded(.down)), default: 0] += count
        }
        func border(_ number: Int) -> Double { pow(10, Double(number) / 10) }
        return Chart(
            title: "Histogram",
            x: .logarithmic(border(counts.keys.min() ?? 0), border((counts.keys.max() ?? 0) + 1)),
            y: .linear(to: Double(counts.values.max() ?? 1)),
            unitOfX: "ms",
            unitOfY: "requests",
            bars: counts.sorted { $0.key < $1.key }.map {
                Chart.Bar(from: border($0.key), to: border($0.key + 1), height: Double($0.value))
            }
        )
    }
}
