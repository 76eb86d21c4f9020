import Foundation
import Testing

@testable import tidemark_load

@Suite
struct HTMLReportTests {
    @Test(arguments: [(0.0, 1.0), (7, 7), (1_234, 1_400), (99, 100), (10, 10)])
    func `an axis begins at 0 and ends at a round number`(highest: Double, end: Double) {
        let axis = Axis.linear(to: highest)
        #expect(axis.low == 0)
        #expect(axis.high == end)
        #expect((2...9).contains(axis.ticks.count))
        #expect(axis.position(0) == 0)
        #expect(axis.position(axis.high) == 1)
        #expect(axis.position(axis.high * 2) == 1)
    }

    @Test
    func `a logarithmic axis has a line for each power of ten`() {
        let axis = Axis.logarithmic(0.4, 230)
        #expect(axis.ticks.map { ($0 * 10).rounded() / 10 } == [0.1, 1, 10, 100, 1_000])
        #expect(abs(axis.position(10) - 0.5) < 0.001)
        #expect(axis.position(0) == 0)
    }

    @Test
    func `a line is broken where nothing was`() {
        let chart = Chart(
            title: "a <title>",
            x: .linear(to: 10),
            y: .linear(to: 10),
            unitOfX: "seconds",
            unitOfY: "ms",
            lines: [Chart.Line(name: "p50", points: [(0, 0), (1, 10), nil, (10, 5)])]
        )
        #expect(chart.svg.contains(#"d="M52.0 182.0h0L87.2 14.0M404.0 98.0h0""#))
        #expect(chart.svg.contains("a &lt;title&gt;"))
    }

    @Test
    func `the number at the top of a chart has room in a font of any height`() throws {
        let axis = Axis.logarithmic(1, 10)
        let svg = Chart(title: "a", x: axis, y: axis, unitOfX: "seconds", unitOfY: "ms").svg
        let tops = svg.matches(of: /<text x="46.0" y="([0-9.]+)" dy="4"/).compactMap { Double($0.1) }
        let highest = try #require(tops.min())
        // On paper the numbers have 17 pixels. Few fonts reach further up than their size.
        #expect(highest + 4 >= 17)
    }
}
