import Foundation

/// A shell command, run to its end.
///
/// It uses `posix_spawn`: Foundation's `Process` crashes on Linux when a thousand files are open,
/// and a load has as many connections.
struct ShellCommand: Sendable {
    let line: String

    /// Bound on the quoted output of a failed command.
    private static let outputBytesMax = 4_096

    /// Runs it on a thread of its own.
    ///
    /// - Returns: How it failed, and the end of its output; `nil` if it exited with 0.
    func run() async -> String? {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: self.runAndWait()) }
        }
    }

    private func runAndWait() -> String? {
        // A file and not a pipe, because nothing reads while it runs.
        guard let output = tmpfile() else { return "no file for its output: \(Self.systemError)" }
        defer { fclose(output) }
        let descriptor = fileno(output)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, descriptor, 1)
        posix_spawn_file_actions_adddup2(&actions, descriptor, 2)
        let words: [String] = ["/bin/sh", "-c", self.line]
        let arguments = words.map { strdup($0) }
        let variables = ProcessInfo.processInfo.environment.map { strdup("\($0.key)=\($0.value)") }
        defer { for pointer in arguments + variables { free(pointer) } }
        var processID: pid_t = 0
        let code = posix_spawn(&processID, "/bin/sh", &actions, nil, arguments + [nil], variables + [nil])
        guard code == 0 else { return "it cannot be run: \(String(cString: strerror(code)))" }
        var status: Int32 = 0
        while waitpid(processID, &status, 0) < 0, errno == EINTR {}
        let said = Self.end(of: descriptor)
        // The low seven bits are the number of a signal, or 0. Then the next eight are the exit
        // code.
        let signal = status & 0x7F
        if signal != 0 { return "it was killed by signal \(signal)\(said)" }
        let exitCode = status >> 8 & 0xFF
        if exitCode != 0 { return "it exited with code \(exitCode)\(said)" }
        return nil
    }

    private static var systemError: String { String(cString: strerror(errno)) }

    /// The end of a file's content.
    private static func end(of descriptor: Int32) -> String {
        var bytes = [UInt8](repeating: 0, count: Self.outputBytesMax)
        let size = Int(lseek(descriptor, 0, SEEK_END))
        let count = pread(descriptor, &bytes, bytes.count, off_t(max(0, size - bytes.count)))
        let text = String(decoding: bytes[..<max(0, count)], as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        return text.isEmpty ? "" : "; it said:\n\(text)"
    }
}
