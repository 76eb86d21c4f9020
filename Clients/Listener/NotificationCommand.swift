import Foundation

/// A shell command that is run for a notification.
struct NotificationCommand {
    /// As `/bin/sh -c` takes it.
    let line: String

    /// Runs the command to its end.
    ///
    /// What it writes goes where the listener's output goes. When the task is cancelled, the command is asked to end (SIGTERM), and its end awaited.
    ///
    /// - Parameter input: What the command reads, whole, whether it does or not: a file, so that nothing waits for it.
    /// - Returns: How it failed; `nil`: it ended with 0.
    /// - Throws: When there can be no process or no file.
    func run(input: String) async throws -> String? {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("tidemark-listen-\(UUID())")
        try Data((input + "\n").utf8).write(to: file)
        let reading = try FileHandle(forReadingFrom: file)
        try FileManager.default.removeItem(at: file)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", self.line]
        process.standardInput = reading
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Void, any Error>) in
                process.terminationHandler = { _ in continuation.resume() }
                do {
                    try process.run()
                    if Task.isCancelled { process.terminate() }
                } catch {
                    process.terminationHandler = nil
                    continuation.resume(throwing: error)
                }
            }
        } onCancel: {
            if process.isRunning { process.terminate() }
        }
        guard process.terminationStatus != 0 else { return nil }
        let how = process.terminationReason == .exit ? "ended with exit code" : "was ended by signal"
        return "the command \(how) \(process.terminationStatus)"
    }
}
