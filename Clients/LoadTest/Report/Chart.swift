/// An SVG chart with lines or bars, in the colours of the page.
struct Chart {
    struct Line {
        let name: String
        /// Ascending in x.
        ///
        /// A gap interrupts the line.
        let points: [(x: Double, y: Double)?]
        /// Whether lines join the points.
        var isJoined = true
    }

    /// A moment at which something happened or began.
    struct Mark {
        let x: Double
        var label = ""
    }

    /// A bar from one x to another.
    struct Bar {
        let from: Double
        let to: Double
        let height: Double
    }

    private static let pointsMax = 60
    private static let width = 420.0
    private static let height = 222.0
    private static let left = 52.0
    private static let right = 16.0
    /// Enough for the number at the top line, in whatever font, on a screen or on paper.
    private static let top = 14.0
    private static let bottom = 40.0

    let title: String
    let x: Axis
    let y: Axis
    let unitOfX: String
    let unitOfY: String
    var lines: [Line] = []
    var bars: [Bar] = []
    /// Events on the x axis.
    var marks: [Mark] = []

    var svg: String {
        var parts: [String] = []
        parts += self.y.ticks.map { self.horizontal($0) }
        parts += self.x.ticks.map { self.vertical($0) }
        parts += self.marks.map { self.line($0) }
        parts += self.bars.map { self.rectangle($0) }
        parts += self.lines.enumerated().map { number, line in
            (line.isJoined ? "<path class=\"line l\(number)\" d=\"\(self.path(line))\"/>" : "")
                + "<path class=\"points l\(number)\" d=\"\(self.points(line))\"/>"
        }
        parts.append(
            "<text class=\"unit\" x=\"\(Self.text(Self.width - Self.right))\" y=\"\(Self.text(Self.height - 3))\" "
                + "text-anchor=\"end\">\(self.unitOfX)</text>"
        )
        let box = "0 0 \(Self.text(Self.width)) \(Self.text(Self.height))"
        let label = HTMLText.escaped("\(self.title), \(self.unitOfY)")
        let picture =
            "<svg viewBox=\"\(box)\" role=\"img\" aria-label=\"\(label)\">\n" + parts.joined(separator: "\n")
            + "\n</svg>"
        let legend = self.lines.count < 2 ? "" : "<p class=\"legend\">\(self.legend)</p>"
        return "<figure><figcaption>\(label)</figcaption>\n\(picture)\n\(legend)</figure>"
    }

    private var legend: String {
        self.lines.enumerated().map { number, line in
            "<span><svg class=\"key\" viewBox=\"0 0 24 6\"><path class=\"\(line.isJoined ? "line" : "points") l\(number)\" "
                + "d=\"\(line.isJoined ? "M0 3H24" : "M12 3h0")\"/></svg> "
                + "\(HTMLText.escaped(line.name))</span>"
        }.joined(separator: " ")
    }

    // MARK: Parts

    private func horizontal(_ value: Double) -> String {
        let y = self.up(value)
        return
            "<line class=\"grid\" x1=\"\(Self.text(Self.left))\" x2=\"\(Self.text(Self.width - Self.right))\" "
            + "y1=\"\(y)\" y2=\"\(y)\"/><text x=\"\(Self.text(Self.left - 6))\" y=\"\(y)\" dy=\"4\" "
            + "text-anchor=\"end\">\(Self.number(value))</text>"
    }

    private func vertical(_ value: Double) -> String {
        let x = self.across(value)
        return "<line class=\"grid\" x1=\"\(x)\" x2=\"\(x)\" y1=\"\(Self.text(Self.top))\" "
            + "y2=\"\(Self.text(Self.height - Self.bottom))\"/><text x=\"\(x)\" "
            + "y=\"\(Self.text(Self.height - Self.bottom + 15))\" text-anchor=\"middle\">\(Self.number(value))</text>"
    }

    private func rectangle(_ bar: Bar) -> String {
        let left = self.x.position(bar.from) * self.innerWidth + Self.left
        let right = self.x.position(bar.to) * self.innerWidth + Self.left
        let height = self.y.position(bar.height) * self.innerHeight
        let top = Self.height - Self.bottom - height
        return "<rect class=\"bar\" x=\"\(Self.text(left))\" y=\"\(Self.text(top))\" "
            + "width=\"\(Self.text(max(0.5, right - left - 0.5)))\" height=\"\(Self.text(height))\"/>"
    }

    private func line(_ mark: Mark) -> String {
        let x = self.across(mark.x)
        let line =
            "<line class=\"mark\" x1=\"\(x)\" x2=\"\(x)\" y1=\"\(Self.text(Self.top))\" "
            + "y2=\"\(Self.text(Self.height - Self.bottom))\"/>"
        guard !mark.label.isEmpty else { return line }
        // Beside the line, on the side with more room.
        let isLeft = self.x.position(mark.x) > 0.75
        return line + "<text class=\"label\" x=\"\(x)\" y=\"\(Self.text(Self.top + 10))\" "
            + "dx=\"\(isLeft ? -4 : 4)\" text-anchor=\"\(isLeft ? "end" : "start")\">"
            + "\(HTMLText.escaped(mark.label))</text>"
    }

    /// Draws dots if they can be told apart.
    ///
    /// Otherwise draws only those that no line joins.
    private func points(_ line: Line) -> String {
        let isSparse = line.points.count <= Self.pointsMax || !line.isJoined
        return line.points.indices.compactMap { index in
            guard let point = line.points[index] else { return nil }
            let isAlone =
                (index == 0 || line.points[index - 1] == nil)
                && (index == line.points.count - 1 || line.points[index + 1] == nil)
            return isSparse || isAlone ? "M\(self.across(point.x)) \(self.up(point.y))h0" : nil
        }.joined()
    }

    private func path(_ line: Line) -> String {
        var isBroken = true
        return line.points.map { point in
            guard let point else {
                isBroken = true
                return ""
            }
            defer { isBroken = false }
            // A single point has no length. A round line end makes it visible.
            let end = "\(self.across(point.x)) \(self.up(point.y))"
            return isBroken ? "M\(end)h0" : "L\(end)"
        }.joined()
    }

    private var innerWidth: Double { Self.width - Self.left - Self.right }
    private var innerHeight: Double { Self.height - Self.top - Self.bottom }

    private func across(_ value: Double) -> String {
        Self.text(Self.left + self.x.position(value) * self.innerWidth)
    }

    private func up(_ value: Double) -> String {
        Self.text(Self.height - Self.bottom - self.y.position(value) * self.innerHeight)
    }

    private static func text(_ number: Double) -> String { Digits.fixed(number, 1) }

    /// A short form: 0.1, 10, 2k.
    private static func number(_ value: Double) -> String {
        if value >= 1_000_000 { return self.shortened(value / 1_000_000) + "M" }
        if value >= 1_000 { return self.shortened(value / 1_000) + "k" }
        return self.shortened(value)
    }

    private static func shortened(_ value: Double) -> String {
        var text = Digits.fixed(value, 3)
        while text.contains("."), text.last == "0" || text.last == "." { text.removeLast() }
        return text
    }
}
