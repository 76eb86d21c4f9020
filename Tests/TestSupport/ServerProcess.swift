import Foundation

/// The real `tidemark` executable as a child process, on a data folder and a port that survive it.
package final class ServerProcess {
    package enum Failure: Error {
        case command(arguments: [String], status: Int32, output: String)
        case notListening(log: String)
    }

    /// The folder of all.
    package let folder: TemporaryDirectory
    package let port = FreePort.take()
    private var child: ChildProcess?
    private var earlierLogs = ""
    /// Further arguments of `tidemark serve`, from the next start on.
    package var settings: [String]
    /// What the server is started by: a shell's command that ends with `exec "$@"`.
    package var launcher: String?

    package var dataPath: String { self.folder.path + "/data" }
    package var authorityPath: String { self.dataPath + "/tls/ca.pem" }
    package var processID: Int32? { self.child?.processID }

    /// Prepares a folder and starts nothing; `settings` are further arguments of `tidemark serve`.
    package init(settings: [String] = []) throws {
        self.folder = try TemporaryDirectory()
        self.settings = settings
    }

    /// Makes the store of a data folder, as the first start of a server does, unless it is there.
    package static func makeStore(in data: String) async throws {
        let files = ["tidemark.sqlite", "postgresql.json"]
        guard !files.contains(where: { FileManager.default.fileExists(atPath: data + "/" + $0) }) else {
            return
        }
        let child = try ChildProcess(
            ChildProcess.tidemark,
            ["serve", "--data", data, "--listen", "127.0.0.1:0"]
        )
        let isListening = await child.find { $0.contains(" listens on ") ? true : nil }
        guard isListening == true else { throw Failure.notListening(log: await child.outcome().errors) }
        child.signal(SIGTERM)
        _ = await child.outcome()
    }

    /// Runs an administrative command, also before the first start, and returns what it prints.
    @discardableResult
    package func administer(_ arguments: [String]) async throws -> String {
        try await Self.makeStore(in: self.dataPath)
        let outcome = try await ChildProcess.run(
            ChildProcess.tidemark,
            arguments + ["--data", self.dataPath]
        )
        guard outcome.exitCode == 0 else {
            throw Failure.command(arguments: arguments, status: outcome.exitCode, output: outcome.output)
        }
        return outcome.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Starts to serve, always on the same port.
    ///
    /// Returns when it takes connections.
    package func start() async throws {
        let arguments =
            ["serve", "--data", self.dataPath, "--listen", "127.0.0.1:\(self.port)"] + self.settings
        let child =
            if let launcher {
                try ChildProcess(
                    URL(fileURLWithPath: "/bin/sh"),
                    ["-c", launcher, "sh", ChildProcess.tidemark.path] + arguments
                )
            } else {
                try ChildProcess(ChildProcess.tidemark, arguments)
            }
        let isListening = await child.find { $0.contains("listens on 127.0.0.1:\(self.port)\n") ? true : nil }
        guard isListening == true else { throw Failure.notListening(log: await child.outcome().errors) }
        self.child = child
    }

    /// What the server has logged, in all its runs.
    package func log() -> String {
        self.earlierLogs + (self.child?.errorsSoFar ?? "")
    }

    /// Memory in use, bytes.
    package func residentBytes() throws -> Int { try self.memory("VmRSS") }

    /// The most memory that was in use since the start, or since `forgetResidentPeak`, bytes.
    package func residentPeakBytes() throws -> Int { try self.memory("VmHWM") }

    package func forgetResidentPeak() throws {
        // The number is the kernel's for this: `proc_pid_clear_refs(5)`.
        try "5".write(toFile: "/proc/\(self.processID ?? 0)/clear_refs", atomically: false, encoding: .utf8)
    }

    private func memory(_ name: String) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(self.processID ?? 0)/status", encoding: .utf8)
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix(name + ":") }),
            let match = line.firstMatch(of: /(\d+) kB/), let kibibytes = Int(match.1)
        else { return 0 }
        return kibibytes * 1_024
    }

    /// Sends a signal and waits for the end.
    ///
    /// - Returns: The exit status, or the signal's number when it killed.
    @discardableResult
    package func end(_ signal: Int32) async -> Int32 {
        guard let child = self.child else { return 0 }
        self.child = nil
        child.signal(signal)
        let outcome = await child.outcome()
        self.earlierLogs += outcome.errors
        return outcome.exitCode
    }
}
