import Foundation

/// Numbers in a readable form.
enum Digits {
    /// With commas between thousands.
    static func count(_ number: Int) -> String {
        let digits = String(abs(number))
        var text = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { text += "," }
            text.append(digit)
        }
        return number < 0 ? "-" + text : text
    }

    /// A rate, with a decimal only if it is small.
    static func rate(_ number: Double) -> String {
        number < 10 && number > 0 ? self.fixed(number, 1) : self.count(Int(number.rounded()))
    }

    /// Milliseconds with three significant digits.
    static func milliseconds(_ number: Double) -> String {
        number < 1 ? self.fixed(number, 3) : self.fixed(number, number < 10 ? 2 : number < 100 ? 1 : 0)
    }

    static func fixed(_ number: Double, _ decimals: Int) -> String {
        String(format: "%.\(decimals)f", number)
    }
}

extension LatencyHistogram {
    /// p50, p90, p99, p99.9 and the maximum, in milliseconds; dashes if there are none.
    var columns: [String] {
        guard self.count > 0 else { return Array(repeating: "–", count: 5) }
        return ([50, 90, 99, 99.9].map { self.percentile($0) } + [self.maxMilliseconds])
            .map { Digits.milliseconds($0) }
    }
}
