import Foundation

/// A line about the last second, on standard error: over the one before on a terminal, below it elsewhere.
struct LiveLine: Sendable {
    private let isTerminal = isatty(2) == 1

    /// Tells of the last second; `second` is one of the measured time, negative in the warm-up.
    func show(_ recent: Recorder.Recent, waiting: Int, second: Double) {
        let percentiles = recent.figures.percentiles([50, 99])
        let time = second < 0 ? "warm-up" : "\(Int(second)) s"
        let line =
            "\(time)  \(Digits.count(recent.figures.answers))/s  p50 \(Digits.milliseconds(percentiles[0])) ms  "
            + "p99 \(Digits.milliseconds(percentiles[1])) ms  failed \(Digits.count(recent.figures.failures))  "
            + "under way \(Digits.count(recent.unfinished))  waiting \(Digits.count(waiting))"
        Self.write(self.isTerminal ? "\r\u{1B}[K" + line : line + "\n")
    }

    /// Tells what is being done.
    func say(_ text: String) {
        Self.write((self.isTerminal ? "\r\u{1B}[K" : "") + text + "\n")
    }

    private static func write(_ text: String) {
        // Nobody need read it.
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
}
