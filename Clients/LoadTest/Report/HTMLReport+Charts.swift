import Foundation

extension HTMLReport {
    /// Charts of each kind of request in the run.
    var sections: [String] {
        self.result.operations.filter { $0.figures.latencies.count > 0 || $0.figures.failureCount > 0 }
            .map { kind, figures in
                let charts = [
                    self.rateChart(kind), self.latencyChart(kind), self.histogram(figures.latencies),
                ]
                return "<section class=\"kind\"><h2>\(kind.rawValue)</h2><div class=\"charts\">"
                    + charts.map(\.svg).joined(separator: "\n") + "</div></section>"
            }
    }

    var rampChart: Chart {
        let steps = self.result.ramp.sorted { $0.rate < $1.rate }
        let latencies = steps.flatMap { [$0.p50Milliseconds, $0.p99Milliseconds] }.filter { $0 > 0 }
        return Chart(
            title: "Latency by rate",
            x: .linear(to: steps.map(\.rate).max() ?? 1),
            y: .logarithmic(latencies.min() ?? 1, latencies.max() ?? 1),
            unitOfX: "requests per second",
            unitOfY: "ms",
            lines: [
                Chart.Line(name: "p50", points: steps.map { ($0.rate, $0.p50Milliseconds) }),
                Chart.Line(name: "p99", points: steps.map { ($0.rate, $0.p99Milliseconds) }),
            ],
            marks: self.result.highestRate.map { [Chart.Mark(x: $0, label: "held")] } ?? []
        )
    }

    /// All parts in a row.
    func overloadCharts(_ overload: OverloadFigures) -> [Chart] {
        let starts = [0] + overload.borders
        let marks = zip(starts, overload.steps).map { Chart.Mark(x: $0, label: $1.part.rawValue) }
        let axis = Axis.linear(to: Double(max(1, overload.seconds.count)))
        return [
            Self.rateChart(overload.seconds, axis, marks, failed: "rejected"),
            Self.latencyChart(overload.seconds, axis, Self.latencyAxis(of: [overload.seconds]), marks),
        ]
    }

    // MARK: By kind

    /// Responses within the measured time.
    ///
    /// Later ones say nothing about the load.
    private func seconds(_ kind: Measured) -> [SecondFigures] {
        self.result.measurements.seconds.prefix(self.secondsMeasured).map { $0[kind] ?? SecondFigures() }
    }

    private var secondsMeasured: Int { max(1, Int(self.result.measuredSeconds.rounded(.up))) }

    private var timeAxis: Axis { .linear(to: Double(self.secondsMeasured)) }

    private var chaos: [Chart.Mark] { self.result.chaosSeconds.map { Chart.Mark(x: $0) } }

    private func rateChart(_ kind: Measured) -> Chart {
        Self.rateChart(self.seconds(kind), self.timeAxis, self.chaos, failed: "failed")
    }

    private func latencyChart(_ kind: Measured) -> Chart {
        // All kinds have one scale, so that they can be compared.
        let axis = Self.latencyAxis(of: self.result.operations.map { self.seconds($0.kind) })
        return Self.latencyChart(self.seconds(kind), self.timeAxis, axis, self.chaos)
    }

    /// Ten bars for each power of ten.
    private func histogram(_ latencies: LatencyHistogram) -> Chart {
        let counts = Self.bars(latencies)
        let all = self.result.operations.flatMap { Self.bars($0.figures.latencies).keys }
        func border(_ number: Int) -> Double { pow(10, Double(number) / 10) }
        return Chart(
            title: "Histogram",
            x: .logarithmic(border(all.min() ?? 0), border((all.max() ?? 0) + 1)),
            y: .linear(to: Double(counts.values.max() ?? 1)),
            unitOfX: "ms",
            unitOfY: "requests",
            bars: counts.sorted { $0.key < $1.key }.map {
                Chart.Bar(from: border($0.key), to: border($0.key + 1), height: Double($0.value))
            }
        )
    }

    private static func bars(_ latencies: LatencyHistogram) -> [Int: UInt64] {
        var counts: [Int: UInt64] = [:]
        for (microseconds, count) in latencies.recorded {
            let milliseconds = Double(max(1, microseconds)) / 1_000
            counts[Int((log10(milliseconds) * 10).rounded(.down)), default: 0] += count
        }
        return counts
    }

    // MARK: By second

    private static func rateChart(
        _ seconds: [SecondFigures],
        _ axis: Axis,
        _ marks: [Chart.Mark],
        failed: String
    ) -> Chart {
        func line(_ name: String, _ values: [Int]) -> Chart.Line {
            Chart.Line(name: name, points: values.enumerated().map { (Double($0) + 0.5, Double($1)) })
        }
        let (answers, failures) = (seconds.map(\.answers), seconds.map(\.failures))
        var lines = [line("answers", answers)]
        if failures.contains(where: { $0 > 0 }) { lines.append(line(failed, failures)) }
        return Chart(
            title: "Throughput",
            x: axis,
            y: .linear(to: Double((answers + failures).max() ?? 1)),
            unitOfX: "seconds",
            unitOfY: "per second",
            lines: lines,
            marks: marks
        )
    }

    private static let percents = [50.0, 99, 100]

    private static func latencyAxis(of kinds: [[SecondFigures]]) -> Axis {
        let values = kinds.joined().filter { $0.answers > 0 }.flatMap { $0.percentiles(self.percents) }
        let above = values.filter { $0 > 0 }
        return .logarithmic(above.min() ?? 1, above.max() ?? 1)
    }

    private static func latencyChart(
        _ seconds: [SecondFigures],
        _ timeAxis: Axis,
        _ axis: Axis,
        _ marks: [Chart.Mark]
    ) -> Chart {
        let values = seconds.map { $0.answers == 0 ? nil : $0.percentiles(self.percents) }
        func points(_ value: ([Double]) -> Double?) -> [(x: Double, y: Double)?] {
            values.enumerated().map { second, values in
                values.flatMap(value).map { (Double(second) + 0.5, $0) }
            }
        }
        return Chart(
            title: "Latency",
            x: timeAxis,
            y: axis,
            unitOfX: "seconds",
            unitOfY: "ms",
            lines: [
                Chart.Line(name: "p50", points: points { $0[0] }),
                Chart.Line(name: "p99", points: points { $0[1] }),
                // With fewer than a hundred requests, p99 is the maximum.
                Chart.Line(
                    name: "max above p99",
                    points: points { $0[2] > $0[1] ? $0[2] : nil },
                    isJoined: false
                ),
            ],
            marks: marks
        )
    }
}
