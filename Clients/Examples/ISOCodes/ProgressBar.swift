import CloudKit

/// The progress, rate and remaining time of a load.
///
/// On a terminal it is one line that is redrawn, elsewhere a line every ten percent.
///
/// Use it from one task, or from the callbacks of one operation.
// SAFETY: callbacks of an operation run one at a time, and the task goes on after the last of them.
final class ProgressBar: @unchecked Sendable {
    private static let width = 30

    private let title: String
    private let total: Int
    private let unit: String
    private let isTerminal = isatty(STDOUT_FILENO) == 1
    private let start = ContinuousClock.now
    private var done = 0
    private var tenthsPrinted = 0

    init(title: String, total: Int, unit: String = "records") {
        self.title = title
        self.total = total
        self.unit = unit
    }

    /// Shows the part that is done, from 0 to 1.
    func show(_ fraction: Double) {
        self.advance(by: Int(fraction * Double(self.total)) - self.done)
    }

    func advance(by count: Int) {
        self.done += count
        let tenths = self.total == 0 ? 10 : self.done * 10 / self.total
        if self.isTerminal {
            self.write("\r\(self.line)\u{1B}[K")
        } else if tenths > self.tenthsPrinted {
            self.tenthsPrinted = tenths
            self.write(self.line + "\n")
        }
    }

    func finish() {
        if self.isTerminal { self.write("\n") }
    }

    private var line: String {
        let seconds = (ContinuousClock.now - self.start) / .seconds(1)
        let rate = Double(self.done) / max(seconds, 0.001)
        let left = Int((Double(self.total - self.done) / max(rate, 0.001)).rounded(.up))
        let filled = self.total == 0 ? Self.width : self.done * Self.width / self.total
        let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: Self.width - filled)
        let clock = "\(left / 60):" + String(format: "%02d", left % 60)
        return "\(self.title) [\(bar)] \(self.done)/\(self.total)  \(Int(rate)) \(self.unit)/s  \(clock) left"
    }

    private func write(_ text: String) {
        FileHandle.standardOutput.write(Data(text.utf8))
    }
}
