import Foundation
import TestSupport
import Testing

@testable import Console

/// Plots: scales, lines and tables, and the pages that have them.
@Suite(.timeLimit(.minutes(10)))
struct PlotTests {
    static func telemetry(
        _ span: Telemetry.Span = .hour,
        now: Int64 = ManualClock().milliseconds
    ) -> Telemetry {
        let width: Int64 = span == .hour ? 10_000 : 300_000
        let count = span == .hour ? 360 : 288
        var telemetry = Telemetry(
            span: span,
            beginMilliseconds: (now / width - Int64(count) + 1) * width,
            intervalMilliseconds: width,
            intervalCount: count
        )
        func wave(_ base: Double, _ height: Double, _ phase: Double) -> [Double?] {
            (0..<count).map { number in
                // The server was down for a while, once for a moment.
                guard !(120..<150).contains(number), number != 200 else { return nil }
                return base + height * sin(Double(number) / 17 + phase) + height * sin(Double(number) / 3) / 6
            }
        }
        telemetry.plots = [
            Plot(
                "requests",
                "Requests",
                .perSecond,
                note: "Requests that arrived each second, by operation.",
                lines: [
                    Plot.Line(name: "modify_records", values: wave(120, 60, 0)),
                    Plot.Line(name: "fetch_changes", values: wave(80, 30, 2)),
                    Plot.Line(name: "<script>alert(1)</script>", values: wave(30, 10, 4)),
                ]
            ),
            Plot(
                "latencies",
                "Latencies",
                .seconds,
                note: "The time that half of all responses, and 99 of 100, took at most.",
                lines: [
                    Plot.Line(name: "half", values: wave(0.001, 0.0004, 1)),
                    Plot.Line(name: "99 of 100", values: wave(0.004, 0.002, 3)),
                ]
            ),
            Plot(
                "sizes",
                "Sizes",
                .bytes,
                note: "What users have stored, as quotas count it.",
                lines: [Plot.Line(name: "fields of records", values: wave(3e9, 2e8, 1))]
            ),
            Plot(
                "errors",
                "Errors",
                .count,
                note: "Requests and items of requests that failed.",
                lines: [Plot.Line(name: "none", values: wave(0, 0, 0))]
            ),
            Plot(
                "memory",
                "Memory",
                .bytes,
                note: "",
                lines: [
                    Plot.Line(name: "memory", values: Array(repeating: nil, count: count))
                ]
            ),
        ]
        telemetry.starts = [150, 201]
        telemetry.watchedUntilMilliseconds = now
        return telemetry
    }

    @Test(
        arguments: [
            (.count, 0, ["1", "0"]), (.count, 3, ["3", "2", "1", "0"]),
            (.count, 7, ["8", "6", "4", "2", "0"]),
            (.level, 1.5, ["2", "1", "0"]), (.perSecond, 0.3, ["0.3/s", "0.2/s", "0.1/s", "0/s"]),
            (.perSecond, 1_234, ["1,500/s", "1,000/s", "500/s", "0/s"]),
            (.seconds, 0.0042, ["6 ms", "4 ms", "2 ms", "0 s"]),
            (.seconds, 0.0004, ["400 µs", "300 µs", "200 µs", "100 µs", "0 s"]),
            (.bytes, 0, ["1 B", "0 B"]), (.bytes, 3e9, ["3.0 GiB", "2.0 GiB", "1.0 GiB", "0 B"]),
            (.bytesPerSecond, 900, ["1.0 KiB/s", "768 B/s", "512 B/s", "256 B/s", "0 B/s"]),
            (.share, 0.7, ["80 %", "60 %", "40 %", "20 %", "0 %"]),
        ] as [(Plot.Unit, Double, [String])]
    )
    func `a scale has room for the highest value, and marks in which people count`(
        unit: Plot.Unit,
        highest: Double,
        marks: [String]
    ) {
        let scale = PlotScale(of: [0, highest, highest / 3], unit: unit)
        #expect(scale.top >= highest)
        #expect(scale.marks.map { unit.text($0) } == marks)
    }

    @Test
    func `a scale has two to six marks, whatever the values are`() {
        var generator = SeededGenerator(seed: 5)
        let units: [Plot.Unit] = [.count, .level, .perSecond, .seconds, .bytes, .bytesPerSecond, .share]
        for unit in units {
            for _ in 0..<500 {
                let value = pow(10, Double.random(in: -9...17, using: &generator))
                let scale = PlotScale(of: [value], unit: unit)
                #expect((2...6).contains(scale.marks.count), "\(unit) \(value)")
                #expect(scale.top >= value * (1 - 1e-6), "\(unit) \(value)")
                #expect(Set(scale.marks.map { unit.text($0) }).count == scale.marks.count, "\(unit) \(value)")
            }
        }
        #expect(PlotScale(of: [.infinity, .nan], unit: .count).top == 1)
    }

    @Test(
        arguments: [
            (.perSecond, 0.00123, "0.0012/s"), (.perSecond, 12.345, "12.3/s"), (.perSecond, 10.01, "10/s"),
            (.level, 1_234_567.8, "1,234,568"), (.seconds, 0.0000005, "0.5 µs"), (.seconds, 12, "12 s"),
            (.count, 0.4, "0"), (.share, 0.123, "12.3 %"), (.bytes, 1e300, "8388608.0 TiB"),
        ] as [(Plot.Unit, Double, String)]
    )
    func `a value has its unit and at most three digits behind the first`(
        unit: Plot.Unit,
        value: Double,
        text: String
    ) {
        #expect(unit.text(value) == text)
    }

    @Test
    func `a line breaks off where nothing is known, and a point by itself is drawn`() {
        var telemetry = Telemetry(
            span: .hour,
            beginMilliseconds: 0,
            intervalMilliseconds: 10_000,
            intervalCount: 7
        )
        let line = Plot.Line(name: "a", values: [0, 2, nil, 4, nil, 1, .infinity])
        let plot = Plot("a", "A", .count, note: "", lines: [line])
        telemetry.plots = [plot]
        let markup = PlotMarkup(plot, of: telemetry)
        #expect(markup.path(of: line) == "M0.5 100h.01L1.5 50M3.5 0h.01M5.5 75h.01")
        let flat = Plot.Line(name: "b", values: [4, 4, 4, 2, nil, 2, 2])
        #expect(markup.path(of: flat) == "M0.5 0h.01H2.5L3.5 50M5.5 50h.01H6.5")
        let figure = markup.figure("").html
        #expect(figure.contains("<path class=\"gap\" d=\"M2 0H3V100H2z\"/>"))
        #expect(figure.contains("<path class=\"gap\" d=\"M4 0H5V100H4z\"/>"))
        #expect(figure.contains("data-values=\"0|2||4||1|"))
    }

    @Test
    func `a table has a row each few intervals, with sums of counts and the highest of all else`() {
        var telemetry = Telemetry(
            span: .hour,
            beginMilliseconds: 0,
            intervalMilliseconds: 10_000,
            intervalCount: 6
        )
        let values: [Double?] = [1, 2, 3, nil, nil, nil]
        let plots = [Plot.Unit.count, .level].map { unit in
            Plot("a", "A", unit, note: "", lines: [Plot.Line(name: "n", values: values)])
        }
        telemetry.plots = plots
        func cells(_ plot: Plot, _ rows: Int) -> [String] {
            PlotMarkup(plot, of: telemetry).table(rows: rows).html
                .matches(of: /<td[^>]*><span class="(?:number|hint)">([^<]*)/).map { String($0.1) }
        }
        #expect(cells(plots[0], 2) == ["not known", "6"])
        #expect(cells(plots[1], 2) == ["not known", "3"])
        #expect(cells(plots[1], 6) == ["not known", "not known", "not known", "3", "2", "1"])
    }

    // MARK: Pages

    @Test
    func `the page has each plot with its figures, and a page for each`() async throws {
        let scene = try ConsoleScene()
        scene.adjust { $0.telemetry = { .found(Self.telemetry($0)) } }
        try await scene.browsing { client in
            let page = try await client.get("/telemetry").body
            #expect(page.components(separatedBy: "<figure").count == 6)
            #expect(page.components(separatedBy: "role=\"img\"").count == 5, "one is not known")
            #expect(!page.contains("<script>alert"))
            #expect(page.contains("&lt;script&gt;alert(1)"))
            #expect(page.contains("Nothing is known of this time."))
            #expect(page.contains("Last day"))
            let day = try await client.get("/telemetry?span=day").body
            #expect(day.contains("viewBox=\"0 0 288 100\""))
            let first = try await client.get("/telemetry/requests?span=hour").body
            #expect(first.matches(of: /<th scope="row"/).count == 200)
            let next = try #require(first.firstMatch(of: /rel="next" href="([^"]+)"/)).1.unescaped
            let second = try await client.get(next).body
            #expect(second.matches(of: /<th scope="row"/).count == 160)
            #expect(!second.contains("rel=\"next\""))
            for path in ["/telemetry?span=year", "/telemetry/none", "/telemetry/%3Cscript%3E"] {
                #expect(try await client.get(path).status == 404, "\(path)")
            }
            for path in ["/telemetry/requests?after=-5", "/telemetry/requests?after=\(Int.max)"] {
                #expect(try await client.get(path).status == 200, "\(path)")
            }
        }
        await scene.shutdown()
    }

    @Test
    func `the page says why there are no figures, and where they end`() async throws {
        let scene = try ConsoleScene()
        try await scene.browsing { client in
            let page = try await client.get("/telemetry").body
            #expect(page.contains("No server has kept figures"))
        }
        scene.adjust { $0.telemetry = { _ in .unreadable("It is <spoilt>.") } }
        try await scene.browsing { client in
            let response = try await client.get("/telemetry")
            #expect(response.status == 503 && response.body.contains("It is &lt;spoilt&gt;."))
        }
        scene.adjust { configuration in
            configuration.telemetry = { span in
                var telemetry = Self.telemetry(span)
                telemetry.watchedUntilMilliseconds = telemetry.beginMilliseconds
                return .found(telemetry)
            }
        }
        try await scene.browsing { client in
            let page = try await client.get("/telemetry").body
            #expect(page.contains("No server has run since"))
        }
        scene.adjust { configuration in
            configuration.serverState = { .serving(address: "127.0.0.1:7430") }
            configuration.telemetry = { .found(Self.telemetry($0, now: 1_000_000_000_000)) }
        }
        try await scene.browsing { client in
            let page = try await client.get("/telemetry").body
            #expect(page.contains("The server has kept no figures since"))
        }
        await scene.shutdown()
    }
}
