import Foundation

/// A shell command that is run for a notification.
struct NotificationCommand {
    /// As `/bin/sh -c` takes it.
    let line: String

    /// Runs the command to its end.
    ///
    /// What it writes goes where the listener's output goes. When the task is cancelled, the command and what it started are asked to end
    /// (SIGTERM), and their end is awaited.
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
        // The listener waits for its signals elsewhere and ignores them itself, which a command must not inherit.
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["--default-signal", "/bin/sh", "-c", self.line]
        process.standardInput = reading
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Void, any Error>) in
                process.terminationHandler = { _ in continuation.resume() }
                do {
                    try process.run()
                    if Task.isCancelled { Self.end(process) }
                } catch {
                    process.terminationHandler = nil
                    continuation.resume(throwing: error)
                }
            }
        } onCancel: {
            if process.isRunning { Self.end(process) }
        }
        guard process.terminationStatus != 0 else { return nil }
        let how = process.terminationReason == .exit ? "ended with exit code" : "was ended by signal"
        return "the command \(how) \(process.terminationStatus)"
    }

    /// Asks the process and all that it started, which are a group of their own, to end.
    private static func end(_ process: Process) {
        _ = kill(-process.processIdentifier, SIGTERM)
    }
}
