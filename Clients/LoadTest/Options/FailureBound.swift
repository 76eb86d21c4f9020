import ArgumentParser

/// A bound of `--fail-if`, such as `p99>20ms`: a run with a figure beyond it has failed.
struct FailureBound: Hashable, Sendable {
    enum Figure: Hashable, Sendable {
        /// In milliseconds, with the percentile; 100 is the longest.
        case latency(Double)
        /// Requests.
        case failed
        /// Percent of all requests that were answered or failed.
        case failedShare
        /// Responses per second.
        case rate
    }

    let figure: Figure
    let isUpper: Bool
    let value: Double
    /// As it was given.
    let text: String

    private static let percentiles = ["p50": 50, "p90": 90, "p99": 99, "p99.9": 99.9, "max": 100]
    private static let milliseconds = ["us": 0.001, "ms": 1, "s": 1_000]

    /// - Throws: `ValidationError`, with the form.
    init(_ text: String) throws {
        let form = /\s*([a-z0-9.]+)\s*([<>])\s*([0-9]+(?:\.[0-9]+)?)\s*([a-z%]*)\s*/
        guard let match = text.wholeMatch(of: form), let number = Double(match.3)
        else { throw Self.malformed(text) }
        let (name, unit) = (String(match.1), String(match.4))
        if let percentile = Self.percentiles[name],
            let scale = Self.milliseconds[unit.isEmpty ? "ms" : unit]
        {
            self.figure = .latency(percentile)
            self.value = number * scale
        } else if name == "failed", unit.isEmpty || unit == "%" {
            self.figure = unit.isEmpty ? .failed : .failedShare
            self.value = number
        } else if name == "rate", unit.isEmpty {
            self.figure = .rate
            self.value = number
        } else {
            throw Self.malformed(text)
        }
        self.isUpper = match.2 == ">"
        self.text = text
    }

    private static func malformed(_ text: String) -> ValidationError {
        ValidationError(
            "'\(text)' is not a bound: use p50, p90, p99, p99.9, max, failed or rate, then < or >, then a number; "
                + "as 'p99>20ms', 'failed>0', 'failed>0.1%', 'rate<500'."
        )
    }

    /// The text of a figure beyond the bound; `nil` if the result keeps to it.
    ///
    /// A latency without any response is beyond every bound.
    func fault(in result: LoadResult) -> String? {
        let total = result.total
        let failures = Double(total.failureCount)
        let found: Double
        let shown: String
        switch self.figure {
        case .latency(let percent):
            guard total.latencies.count > 0 else { return "\(self.text): there was no response" }
            found =
                percent == 100 ? total.latencies.maxMilliseconds : total.latencies.percentile(percent)
            shown = "\(Digits.milliseconds(found)) ms"
        case .failed:
            found = failures
            shown = Digits.count(total.failureCount)
        case .failedShare:
            found = 100 * failures / max(failures + Double(total.responsesInTime), 1)
            shown = "\(Digits.fixed(found, 2)) %"
        case .rate:
            found = result.rate(total)
            shown = "\(Digits.rate(found)) per second"
        }
        return (self.isUpper ? found > self.value : found < self.value) ? "\(self.text): \(shown)" : nil
    }
}
