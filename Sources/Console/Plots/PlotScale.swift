import Foundation

/// The vertical axis of a plot: from zero up, with at most five marks.
struct PlotScale: Hashable, Sendable {
    private static let marksMax = 5.0

    let unit: Plot.Unit
    /// Between two marks.
    let step: Double
    /// Steps up to the top.
    let steps: Int

    var top: Double { self.step * Double(self.steps) }

    /// The marks, the highest first.
    var marks: [Double] { (0...self.steps).reversed().map { Double($0) * self.step } }

    /// The lowest scale that has room for all values.
    init(of values: some Sequence<Double>, unit: Plot.Unit) {
        let highest = values.lazy.filter(\.isFinite).max() ?? 0
        self.unit = unit
        self.step = Self.step(atLeast: highest / (Self.marksMax - 1), unit)
        // A hair above a mark is on it.
        self.steps = max(1, Int((highest / self.step - 1e-9).rounded(.up)))
    }

    /// A number that people count in.
    private static func step(atLeast least: Double, _ unit: Plot.Unit) -> Double {
        switch unit {
        // Halves of an event, or of a byte, mean nothing.
        case .count, .level: return max(1, self.decimal(atLeast: least))
        case .perSecond, .seconds: return least <= 0 ? 1 : self.decimal(atLeast: least)
        case .share: return least <= 0 ? 0.25 : self.decimal(atLeast: least)
        case .bytes, .bytesPerSecond:
            guard least > 1 else { return 1 }
            let power = pow(1_024, (log2(least) / 10).rounded(.down))
            return power * pow(2, log2(least / power).rounded(.up))
        }
    }

    /// 1, 2 or 5, and zeros.
    private static func decimal(atLeast least: Double) -> Double {
        guard least > 0 else { return 0 }
        let power = pow(10, log10(least).rounded(.down))
        for factor in [1, 2, 5] as [Double] where factor * power >= least * (1 - 1e-9) {
            return factor * power
        }
        return 10 * power
    }
}

extension Plot.Unit {
    /// A value as people read it.
    func text(_ value: Double) -> String {
        switch self {
        // A late sample shares its counts between two intervals.
        case .count: self.number(value.rounded())
        case .level: self.number(value)
        case .perSecond: self.number(value) + "/s"
        case .seconds: self.duration(value)
        case .bytes: Shown.bytes(self.whole(value))
        case .bytesPerSecond: Shown.bytes(self.whole(value)) + "/s"
        case .share: self.number(value * 100) + " %"
        }
    }

    private func whole(_ value: Double) -> Int64 { Int64(exactly: value.rounded()) ?? .max }

    /// Three digits, unless there are more before the point.
    private func number(_ value: Double) -> String {
        let rounded = value.rounded()
        if value == rounded || abs(value) >= 100 { return Shown.number(self.whole(value)) }
        guard abs(value) >= 1 else { return String(format: "%.2g", value) }
        let text = Shown.decimal(value, places: abs(value) >= 10 ? 1 : 2)
        // 2.50 is 2.5, and 2.00 is 2.
        var short = text.utf8[...]
        while short.last == UInt8(ascii: "0") { short.removeLast() }
        if short.last == UInt8(ascii: ".") { short.removeLast() }
        return String(Substring(short))
    }

    private func duration(_ seconds: Double) -> String {
        switch seconds {
        case 0: "0 s"
        case ..<0.001: self.number(seconds * 1_000_000) + " µs"
        case ..<1: self.number(seconds * 1_000) + " ms"
        default: self.number(seconds) + " s"
        }
    }
}
