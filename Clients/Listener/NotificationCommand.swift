import Foundation

/// A shell command that is run for a notification.
struct NotificationCommand {
    /// The argument of `/bin/sh -c`.
    let line: String

    /// Runs the command until it ends.
    ///
    /// Its output goes to the listener's output. If the task is cancelled, the command and its
    /// children get SIGTERM, and the listener waits for their end.
    ///
    /// - Parameter input: The command's standard input. It is a file, so that nothing waits for the
    ///   command to read it.
    /// - Returns: How it failed; `nil` if it ended with 0.
    /// - Throws: If no process or file can be made.
    func run(input: String) async throws -> String? {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("tidemark-listen-\(UUID())")
        try Data((input + "\n").utf8).write(to: file)
        let reading = try FileHandle(forReadingFrom: file)
        try FileManager.default.removeItem(at: file)
        let process = Process()
        // The listener waits for its signals elsewhere and ignores them itself; a command must not
        // inherit that.
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

    /// Sends SIGTERM to the process and its children, which are a group of their own.
    private static func end(_ process: Process) {
        _ = kill(-process.processIdentifier, SIGTERM)
    }
}
