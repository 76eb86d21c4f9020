import Foundation

/// Waits after work so that its rate stays within a bound.
final class WorkPace: Sendable {
    private let start = ContinuousClock.now
    /// Bytes a second; `nil` for no bound.
    private let bytesPerSecond: Double?
    private let done = DoneBytes()

    /// - Parameter mebibytesPerSecond: 0 for no bound.
    init(mebibytesPerSecond: Int) {
        self.bytesPerSecond = mebibytesPerSecond > 0 ? Double(mebibytesPerSecond) * 1_048_576 : nil
    }

    /// Counts bytes, and says how long to wait for the rate.
    func seconds(after bytes: Int) -> Double {
        guard let bytesPerSecond else { return 0 }
        let done = self.done.add(bytes)
        return max(0, Double(done) / bytesPerSecond - (ContinuousClock.now - self.start) / .seconds(1))
    }

    /// Waits without a thread.
    func wait(after bytes: Int) async throws {
        let seconds = self.seconds(after: bytes)
        if seconds > 0 { try await Task.sleep(for: .seconds(seconds)) }
    }

    /// Waits on the thread that reads a file.
    func block(after bytes: Int) { Thread.sleep(forTimeInterval: self.seconds(after: bytes)) }
}
