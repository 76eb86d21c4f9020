import Foundation
import Synchronization

/// The progress of a long command, on the last line of a terminal.
///
/// Prints nothing without a terminal.
struct ProgressBar {
    private static let cells = 40

    var totalBytes: Int64 = 0
    /// `nil` if only the terminal shows the progress.
    var watch: CopyWatch?
    private var doneBytes: Int64 = 0
    private var shown = -1
    private let isShown = isatty(STDERR_FILENO) == 1

    init() {}

    mutating func add(_ bytes: Int) {
        self.doneBytes += Int64(bytes)
        self.watch?.progress(self.doneBytes, self.totalBytes)
        self.show(self.doneBytes, of: self.totalBytes)
    }

    /// Draws how much of an operation is done.
    mutating func show(_ done: Int64, of total: Int64) {
        // The size of a pipe is not known.
        guard self.isShown, total > 0 else { return }
        let percent = Int(min(done * 100 / total, 100))
        guard percent != self.shown else { return }
        self.shown = percent
        let filled = percent * Self.cells / 100
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: Self.cells - filled)
        Terminal.draw("\r\(bar) \(percent) %")
    }

    /// Removes the bar from the terminal.
    func clear() {
        if self.isShown, self.shown >= 0 { Terminal.draw("\r\u{1B}[K") }
    }

    /// - Throws: `unavailable` if the watcher wants no more.
    func refuseIfStopped() throws(CommandFailure) {
        guard let watch, watch.isStopping() else { return }
        throw CommandFailure(.unavailable, "it was stopped, and what had been copied was removed.")
    }
}

/// The progress of an operation, from any thread.
final class TerminalProgress: Sendable {
    private let bar = Mutex(ProgressBar())

    func show(_ done: Int64, of total: Int64) { self.bar.withLock { $0.show(done, of: total) } }

    /// Removes the bar from the terminal.
    func clear() { self.bar.withLock { $0.clear() } }
}

/// An observer that follows a copy elsewhere than on the terminal, and may stop it.
struct CopyWatch: Sendable {
    var isStopping: @Sendable () -> Bool
    /// Takes the number of bytes that were copied, and the total.
    var progress: @Sendable (Int64, Int64) -> Void
}
