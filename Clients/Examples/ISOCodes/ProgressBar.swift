import CloudKit

/// How far a load is, how fast, and for how long still: one line that is redrawn on a terminal, else a line every ten percent.
///
/// Belongs to one task.
final class ProgressBar {
    private static let width = 30

    private let title: String
    private let total: Int
    private let isTerminal = isatty(STDOUT_FILENO) == 1
    private let start = ContinuousClock.now
    private var done = 0
    private var tenthsPrinted = 0

    init(title: String, total: Int) {
        self.title = title
        self.total = total
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
        return "\(self.title) [\(bar)] \(self.done)/\(self.total)  \(Int(rate)) records/s  \(clock) left"
    }

    private func write(_ text: String) {
        FileHandle.standardOutput.write(Data(text.utf8))
    }
}
