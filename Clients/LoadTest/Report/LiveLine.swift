import Foundation
import Synchronization

/// How it goes, on standard error: a bar that is drawn again and again on a terminal, elsewhere a line now and then.
final class LiveLine: Sendable {
    /// Lines of a run that nobody watches.
    private static let linesMax = 30.0
    private static let barWidth = 20

    private let isTerminal: Bool
    /// When something was shown last.
    private let shown = Mutex<ContinuousClock.Instant?>(nil)

    init(isTerminal: Bool = isatty(2) == 1) { self.isTerminal = isTerminal }

    /// Whether it is time for another word on a measurement of so many seconds.
    func isDue(of duration: Double) -> Bool {
        guard !self.isTerminal, let last = self.shown.withLock({ $0 }) else { return true }
        // What comes a little early comes in time: it is looked at once a second.
        return (.now - last).seconds >= max(1, duration / Self.linesMax) - 0.5
    }

    /// Tells of what happened since this was called last; `second` is one of the measured time, negative in the warm-up.
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

    /// The part of the measured time that is over.
    static func bar(_ second: Double, of duration: Double) -> String {
        let share = min(max(second / max(duration, 0.001), 0), 1)
        let filled = Int((share * Double(self.barWidth)).rounded(.down))
        let bar =
            String(repeating: "#", count: filled) + String(repeating: ".", count: self.barWidth - filled)
        let time = second < 0 ? "warm-up" : "\(Int(min(second, duration)))/\(Digits.rate(duration)) s"
        return "[\(bar)] \(time)"
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
