import Foundation

/// A command of a shell, run to its end.
///
/// Made with `posix_spawn`: Foundation's `Process` crashes on Linux when a thousand files are open, and a load has so many connections.
struct ShellCommand: Sendable {
    let line: String

    /// Runs it on a thread of its own; what it writes goes to standard error.
    ///
    /// - Returns: How it failed; `nil`: it ended with 0.
    func run() async -> String? {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: self.runAndWait()) }
        }
    }

    private func runAndWait() -> String? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, 2, 1)
        let words: [String] = ["/bin/sh", "-c", self.line]
        let arguments = words.map { strdup($0) }
        let variables = ProcessInfo.processInfo.environment.map { strdup("\($0.key)=\($0.value)") }
        defer { for pointer in arguments + variables { free(pointer) } }
        var processID: pid_t = 0
        let code = posix_spawn(&processID, "/bin/sh", &actions, nil, arguments + [nil], variables + [nil])
        guard code == 0 else { return "it cannot be run: \(String(cString: strerror(code)))" }
        var status: Int32 = 0
        while waitpid(processID, &status, 0) < 0, errno == EINTR {}
        // The low seven bits are the signal's number, or 0: then the next eight are the exit code.
        let signal = status & 0x7F
        if signal != 0 { return "it was ended by signal \(signal)" }
        let exitCode = status >> 8 & 0xFF
        return exitCode == 0 ? nil : "it ended with exit code \(exitCode)"
    }
}
