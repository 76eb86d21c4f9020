import Foundation
import RecordModel
import Synchronization

/// The progress on standard error: a bar that is redrawn on a terminal, otherwise a line now and
/// then.
final class LiveLine: Sendable {
    /// Bound on the lines of a run without a terminal.
    private static let linesMax = 30.0
    private static let barWidth = 20

    private let isTerminal: Bool
    /// When progress was shown last.
    private let shown = Mutex<ContinuousClock.Instant?>(nil)

    init(isTerminal: Bool = isatty(2) == 1) { self.isTerminal = isTerminal }

    /// Whether progress should be shown again in a measurement of this many seconds.
    func isDue(of duration: Double) -> Bool {
        guard !self.isTerminal, let last = self.shown.withLock({ $0 }) else { return true }
        // It is checked once a second, so a little early is in time.
        return (.now - last).seconds >= max(1, duration / Self.linesMax) - 0.5
    }

    /// Shows the events since the last call.
    ///
    /// `second` is one of the measured time, negative in the warm-up.
    func show(_ recent: Recorder.Recent, waiting: Int, second: Double, of duration: Double) {
        let now = ContinuousClock.now
        let last = self.shown.withLock { shown in
            defer { shown = now }
            return shown
        }
        let seconds = max(last.map { (now - $0).seconds } ?? 1, 0.001)
        let percentiles = recent.figures.percentiles([50, 99])
        let figures =
            "\(Digits.rate(Double(recent.figures.answers) / seconds))/s  p50 \(Digits.milliseconds(percentiles[0])) ms  "
            + "p99 \(Digits.milliseconds(percentiles[1])) ms  failed \(Digits.count(recent.figures.failures))  "
            + "under way \(Digits.count(recent.unfinished))  waiting \(Digits.count(waiting))"
        if self.isTerminal {
            Self.write("\r\u{1B}[K" + Self.bar(second, of: duration) + "  " + figures)
        } else {
            Self.write((second < 0 ? "warm-up" : "\(Int(second)) s") + "  " + figures + "\n")
        }
    }

    /// The elapsed part of the measured time.
    static func bar(_ second: Double, of duration: Double) -> String {
        let share = min(max(second / max(duration, 0.001), 0), 1)
        let filled = Int((share * Double(self.barWidth)).rounded(.down))
        let bar =
            String(repeating: "#", count: filled) + String(repeating: ".", count: self.barWidth - filled)
        let time = second < 0 ? "warm-up" : "\(Int(min(second, duration)))/\(Digits.rate(duration)) s"
        return "[\(bar)] \(time)"
    }

    /// Shows the current activity.
    func say(_ text: String) {
        Self.write((self.isTerminal ? "\r\u{1B}[K" : "") + PrintedText.lines(text) + "\n")
    }

    private static func write(_ text: String) {
        // Progress may be lost.
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
}
