import Foundation
import TestSupport

/// A terminal with a new folder and a shell, into which somebody pastes.
///
/// `script` gives the shell a terminal of its own, so it is interactive as a person's is: it has
/// jobs, it prompts, and it reads a line when the command before has ended.
struct PastingTerminal {
    /// How a terminal hands over what is pasted.
    enum Manner: CaseIterable {
        /// As if it were typed: the shell reads line by line.
        case typed
        /// Between the marks that the shell has asked for: it reads all lines, and then runs them.
        case bracketed
    }

    static let secondsMax = 120

    /// The shell's, with the programs of this build in `.build/debug`, as in the repository.
    let folder: URL

    init() throws {
        self.folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidemark-terminal-\(UUID().uuidString)")
        let build = self.folder.appendingPathComponent(".build")
        try FileManager.default.createDirectory(at: build, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            at: build.appendingPathComponent("debug"),
            withDestinationURL: ChildProcess.buildFolder
        )
    }

    /// Pastes lines, waits for the last background job, and leaves the shell.
    ///
    /// - Returns: All that the terminal showed. Its end is `the job ended with` and the exit code of the job.
    func paste(_ lines: [String], _ manner: Manner) async throws -> String {
        var text = lines.map { $0 + "\n" }.joined()
        if manner == .bracketed { text = "\u{1B}[200~\(text)\u{1B}[201~\n" }
        text += "wait $!; echo the job ended with $?; exit\n"
        try text.write(to: self.folder.appendingPathComponent("paste"), atomically: false, encoding: .utf8)
        let shell = "bash --norc --noprofile -i"
        let outcome = try await ChildProcess.run(
            URL(fileURLWithPath: "/bin/sh"),
            [
                "-c",
                "cd \"$0\" && exec timeout \(Self.secondsMax) script -qec '\(shell)' /dev/null <paste",
                self.folder.path,
            ],
            environment: [
                "HOME": self.folder.path, "TMPDIR": self.folder.path, "TERM": "xterm",
                "XDG_STATE_HOME": self.folder.path + "/state", "XDG_CACHE_HOME": self.folder.path + "/cache",
                // A program that crashes would ask whether somebody wants to look into it.
                "SWIFT_BACKTRACE": "enable=no",
            ]
        )
        return Self.plain(outcome.output + outcome.errors)
    }

    /// A terminal's text without what moves its cursor and colours it.
    private static func plain(_ text: String) -> String {
        let scalars = text.replacing(/\u{1B}\[[0-9;?]*[A-Za-z]/, with: "").unicodeScalars
        return String(String.UnicodeScalarView(scalars.filter { $0 == "\n" || $0.value >= 0x20 }))
    }

    /// Ends a server that was left, and removes everything.
    func close() {
        let files = FileManager.default
        for name in (try? files.contentsOfDirectory(atPath: self.folder.path)) ?? [] {
            let lock = self.folder.appendingPathComponent(name).appendingPathComponent("lock")
            guard let text = try? String(contentsOf: lock, encoding: .utf8),
                let processID = Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)),
                let program = try? files.destinationOfSymbolicLink(atPath: "/proc/\(processID)/exe"),
                URL(fileURLWithPath: program).lastPathComponent == "tidemark"
            else { continue }
            kill(processID, SIGKILL)
        }
        try? files.removeItem(at: self.folder)
    }
}
