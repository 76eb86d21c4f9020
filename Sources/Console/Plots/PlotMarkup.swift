import Foundation

/// Draws a plot: lines as SVG, names and numbers as HTML.
///
/// The picture is stretched to the width of the page, and its lines stay as thin as they are. Text
/// beside it keeps its size, so that it can be read on a phone. The script moves a cursor over the
/// picture, with the values that are written at each line.
struct PlotMarkup: Sendable {
    private static let height = 100.0
    /// Names of moments under the picture.
    private static let momentCount = 5

    let telemetry: Telemetry
    let plot: Plot
    /// Whether no figure is known.
    let isEmpty: Bool
    private let scale: PlotScale

    init(_ plot: Plot, of telemetry: Telemetry) {
        self.telemetry = telemetry
        self.plot = plot
        self.isEmpty = plot.lines.allSatisfy { $0.values.allSatisfy { $0 == nil } }
        self.scale = PlotScale(
            of: plot.lines.flatMap { $0.values.compactMap { $0 } },
            unit: plot.unit
        )
    }

    // MARK: The figure

    /// The plot with its legend; `more` stands behind it.
    func figure(_ more: Markup) -> Markup {
        let id = "plot-\(self.plot.id)"
        guard !self.isEmpty else {
            return """
                <figure class="plot" aria-labelledby="\(id)">
                <figcaption><h2 id="\(id)">\(self.plot.title)</h2></figcaption>
                <p class="empty">Nothing is known of this time.</p>
                </figure>
                """
        }
        let marks = self.scale.marks.map { mark -> Markup in "<span>\(self.plot.unit.text(mark))</span>" }
        return """
            <figure class="plot" aria-labelledby="\(id)">
            <figcaption><h2 id="\(id)">\(self.plot.title)</h2><p class="hint">\(self.plot.note)</p></figcaption>
            <div class="drawing">
            <div class="marks" aria-hidden="true">\(marks)</div>
            \(self.picture)
            <div class="moments" aria-hidden="true">\(self.moments)</div>
            </div>
            \(self.legend)
            \(more)
            </figure>
            """
    }

    private var picture: Markup {
        let begin = self.telemetry.beginMilliseconds
        return """
            <svg class="picture" viewBox="0 0 \(self.telemetry.intervalCount) 100" preserveAspectRatio="none" role="img" aria-label="\(self.summary)" data-begin="\(begin)" data-interval="\(self.telemetry.intervalMilliseconds)" data-count="\(self.telemetry.intervalCount)">
            \(self.grid)
            \(self.gaps)
            \(self.starts)
            \(self.lines)
            <line class="cursor script" y1="0" y2="100" hidden></line>
            </svg>
            """
    }

    private var grid: Markup {
        Markup(
            self.scale.marks.map { mark -> Markup in
                "<path class=\"mark\" d=\"M0 \(self.vertical(mark))H\(self.telemetry.intervalCount)\"/>"
            }
        )
    }

    /// Times without samples of the server.
    private var gaps: Markup {
        let isKnown = (0..<self.telemetry.intervalCount).map { interval in
            self.plot.lines.contains { $0.values[interval] != nil }
        }
        var parts: [Markup] = []
        var start = 0
        while let begin = isKnown[start...].firstIndex(of: false) {
            let end = isKnown[begin...].firstIndex(of: true) ?? isKnown.endIndex
            parts.append("<path class=\"gap\" d=\"M\(begin) 0H\(end)V100H\(begin)z\"/>")
            start = end
        }
        return Markup(parts)
    }

    private var starts: Markup {
        Markup(
            self.telemetry.starts.map { interval -> Markup in
                "<path class=\"start\" d=\"M\(interval) 0V100\"/>"
            }
        )
    }

    private var lines: Markup {
        Markup(
            self.plot.lines.enumerated().map { offset, line -> Markup in
                "<path class=\"line line-\(offset)\" d=\"\(self.path(of: line))\"/>\n"
            }
        )
    }

    /// The line through the middles of intervals, which breaks off at gaps.
    func path(of line: Plot.Line) -> String {
        var path = ""
        // The height of the interval before; `nil` at the beginning and after a gap.
        var last: String?
        // Intervals that are as high as the one before them: one stroke for all.
        var flat: Int?
        func stroke() {
            if let interval = flat { path += "H\(interval).5" }
            flat = nil
        }
        for (interval, value) in line.values.enumerated() {
            guard let value, value.isFinite else {
                stroke()
                last = nil
                continue
            }
            let height = self.vertical(value)
            if height == last {
                flat = interval
                continue
            }
            stroke()
            // A point by itself has to have a length, to be drawn.
            path += last == nil ? "M\(interval).5 \(height)h.01" : "L\(interval).5 \(height)"
            last = height
        }
        stroke()
        return path
    }

    private func vertical(_ value: Double) -> String {
        let tenths = Int((10 * Self.height * (1 - min(max(value / self.scale.top, 0), 1))).rounded())
        let (whole, rest) = tenths.quotientAndRemainder(dividingBy: 10)
        return rest == 0 ? "\(whole)" : "\(whole).\(rest)"
    }

    private var moments: Markup {
        Markup(
            (0..<Self.momentCount).map { offset -> Markup in
                let milliseconds =
                    self.telemetry.beginMilliseconds
                    + Int64(self.telemetry.intervalCount) * self.telemetry.intervalMilliseconds
                    * Int64(offset) / Int64(Self.momentCount - 1)
                return "<span>\(Self.clock(milliseconds))</span>"
            }
        )
    }

    /// The time of the day, in UTC.
    static func clock(_ milliseconds: Int64) -> String {
        let minutes = milliseconds / 60_000 % 1_440
        return String(format: "%02d:%02d", Int(minutes / 60), Int(minutes % 60))
    }

    // MARK: Words

    /// A sentence a line: what it is now, and what it was at most.
    private var summary: String {
        let lines = self.plot.lines.map { line in
            let known = line.values.compactMap { $0 }
            guard let last = known.last, let highest = known.max() else { return "\(line.name): not known" }
            return
                "\(line.name): last \(self.plot.unit.text(last)), at most \(self.plot.unit.text(highest))"
        }
        return "\(self.plot.title). " + lines.joined(separator: "; ") + "."
    }

    /// The figures of a line, empty where there is none.
    private func texts(of line: Plot.Line) -> [String] {
        var before: (value: Double, text: String)?
        return line.values.map { value in
            guard let value else { return "" }
            // Most lines are flat most of the time.
            if let before, before.value == value { return before.text }
            let text = self.plot.unit.text(value)
            before = (value, text)
            return text
        }
    }

    /// The lines' names, each with its last value; the script puts those under the cursor there.
    private var legend: Markup {
        let items = self.plot.lines.enumerated().map { offset, line -> Markup in
            let texts = self.texts(of: line)
            let last = line.values.last { $0 != nil }.flatMap { $0 }.map { self.plot.unit.text($0) } ?? "–"
            return """
                <li data-name="\(line.name)" data-values="\(texts.joined(separator: "|"))">
                <svg class="swatch" viewBox="0 0 24 8" aria-hidden="true"><path class="line line-\(offset)" d="M1 4H23"/></svg>
                \(line.name) <span class="value number">\(last)</span></li>
                """
        }
        return """
            <p class="moment script" hidden></p>
            <ul class="legend">\(items)</ul>
            """
    }

    // MARK: The table

    /// A row for each few intervals, the newest first.
    func table(rows: Int) -> Markup {
        let width = max(1, (self.telemetry.intervalCount + rows - 1) / rows)
        return self.table(width, of: 0..<rows)
    }

    /// A row for each interval, the newest first.
    ///
    /// `range` is of rows; beyond the last there are none.
    func table(of range: Range<Int>) -> Markup { self.table(1, of: range) }

    private func table(_ width: Int, of range: Range<Int>) -> Markup {
        let count = self.telemetry.intervalCount
        let begins = stride(from: 0, to: count, by: width).reversed().dropFirst(range.lowerBound)
        let rows = begins.prefix(range.count).map { begin -> [Markup] in
            let end = min(begin + width, count)
            return [Shown.time(milliseconds: self.telemetry.milliseconds(of: begin))]
                + self.plot.lines.map { line -> Markup in
                    guard let value = self.merged(line.values[begin..<end].compactMap { $0 }) else {
                        return "<span class=\"hint\">not known</span>"
                    }
                    return "<span class=\"number\">\(self.plot.unit.text(value))</span>"
                }
        }
        return Parts.table(
            caption: "\(self.plot.title), \(self.interval(width))",
            columns: ["From, UTC"] + self.plot.lines.map(\.name),
            rows: rows
        )
    }

    /// One value for a few: the sum of counts, the highest of all else.
    private func merged(_ values: [Double]) -> Double? {
        guard !values.isEmpty else { return nil }
        return self.plot.unit == .count ? values.reduce(0, +) : values.max()
    }

    private func interval(_ width: Int) -> String {
        let seconds = Int64(width) * self.telemetry.intervalMilliseconds / 1_000
        let time = seconds < 60 ? "\(seconds) s" : "\(seconds / 60) min"
        let isMerged = width > 1 && self.plot.unit != .count
        return isMerged ? "the highest of each \(time)" : "in steps of \(time)"
    }
}
