import Foundation

/// An axis of a chart, which maps values to positions.
struct Axis {
    let low: Double
    let high: Double
    let isLogarithmic: Bool

    /// From 0 to a round number that is not below the highest value.
    static func linear(to highest: Double) -> Axis {
        let step = self.step(highest)
        return Axis(low: 0, high: max(step, (highest / step).rounded(.up) * step), isLogarithmic: false)
    }

    /// Powers of ten around all values, with at least one between them.
    static func logarithmic(_ lowest: Double, _ highest: Double) -> Axis {
        let low = floor(log10(max(lowest, 0.001)))
        let high = max(low + 1, ceil(log10(max(highest, 0.001))))
        return Axis(low: pow(10, low), high: pow(10, high), isLogarithmic: true)
    }

    /// The position of a value: 0 at the low end, 1 at the high one.
    func position(_ value: Double) -> Double {
        let position =
            if self.isLogarithmic {
                (log10(max(value, self.low)) - log10(self.low)) / (log10(self.high) - log10(self.low))
            } else {
                (value - self.low) / (self.high - self.low)
            }
        return min(max(position, 0), 1)
    }

    /// Values that get a line and a number.
    var ticks: [Double] {
        if self.isLogarithmic {
            return (Int(log10(self.low).rounded())...Int(log10(self.high).rounded())).map {
                pow(10, Double($0))
            }
        }
        return Array(stride(from: self.low, through: self.high * 1.000_1, by: Self.step(self.high)))
    }

    /// 1, 2 or 5 times a power of ten, which gives three to seven steps.
    private static func step(_ highest: Double) -> Double {
        guard highest > 0 else { return 1 }
        let power = pow(10, floor(log10(highest)))
        let first = highest / power
        return first < 1.5 ? power / 5 : first < 3.5 ? power / 2 : first < 7.5 ? power : power * 2
    }
}
