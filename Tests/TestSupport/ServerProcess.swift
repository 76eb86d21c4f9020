import Foundation

/// The real `tidemark` executable as a child process, on a data folder and a port that survive it.
package final class ServerProcess {
    package enum Failure: Error {
        case command(arguments: [String], status: Int32, output: String)
        case notListening(log: String)
    }

    /// The folder of all: `data` and, for each run appended, `log`.
    package let folder: TemporaryDirectory
    package private(set) var port = 0
    private var child: Process?
    private let settings: [String]

    package var dataPath: String { self.folder.path + "/data" }
    package var authorityPath: String { self.dataPath + "/tls/ca.pem" }
    package var logPath: String { self.folder.path + "/log" }
    package var processID: Int32? { self.child?.processIdentifier }

    /// Prepares a folder and starts nothing; `settings` are further arguments of `tidemark serve`.
    package init(settings: [String] = []) throws {
        self.folder = try TemporaryDirectory()
        self.settings = settings
    }

    deinit {
        if let child = self.child, child.isRunning { kill(child.processIdentifier, SIGKILL) }
    }

    /// Where the package's executables are: beside the one that runs the tests.
    private static var executable: URL {
        let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return URL(fileURLWithPath: own ?? CommandLine.arguments[0])
            .deletingLastPathComponent().appendingPathComponent("tidemark")
    }

    /// Runs an administrative command, and returns what it prints.
    @discardableResult
    package func administer(_ arguments: [String]) async throws -> String {
        let child = Process()
        child.executableURL = Self.executable
        child.arguments = arguments + ["--data", self.dataPath]
        let output = Pipe()
        child.standardOutput = output
        child.standardError = FileHandle.nullDevice
        let status = try await Self.run(child)
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        guard status == 0 else { throw Failure.command(arguments: arguments, status: status, output: text) }
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Starts to serve; the first time on any free port, then on the same.
    ///
    /// Returns when it takes connections.
    package func start() async throws {
        if !FileManager.default.fileExists(atPath: self.logPath) {
            _ = FileManager.default.createFile(atPath: self.logPath, contents: nil)
        }
        let log = try FileHandle(forWritingTo: URL(fileURLWithPath: self.logPath))
        try log.seekToEnd()
        let child = Process()
        child.executableURL = Self.executable
        child.arguments =
            ["serve", "--data", self.dataPath, "--listen", "127.0.0.1:\(self.port)"] + self.settings
        let output = Pipe()
        child.standardOutput = output
        child.standardError = log
        let (chunks, continuation) = AsyncStream<Data>.makeStream()
        output.fileHandleForReading.readabilityHandler = { handle in
            let chunk = handle.availableData
            guard !chunk.isEmpty else {
                handle.readabilityHandler = nil
                continuation.finish()
                return
            }
            continuation.yield(chunk)
        }
        try child.run()
        self.child = child
        var printed = ""
        for await chunk in chunks {
            printed += String(decoding: chunk, as: UTF8.self)
            if let match = printed.firstMatch(of: /listens on 127\.0\.0\.1:(\d+)\n/), let port = Int(match.1)
            {
                self.port = port
                return
            }
        }
        throw Failure.notListening(log: (try? self.log()) ?? "")
    }

    /// What the server has logged, in all its runs.
    package func log() throws -> String {
        try String(contentsOfFile: self.logPath, encoding: .utf8)
    }

    /// Memory in use, bytes.
    package func residentBytes() throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(self.processID ?? 0)/status", encoding: .utf8)
        guard let match = status.firstMatch(of: /VmRSS:\s+(\d+) kB/), let kibibytes = Int(match.1) else {
            return 0
        }
        return kibibytes * 1_024
    }

    /// Sends a signal and waits for the end.
    ///
    /// - Returns: The exit status, or the signal's number when it killed.
    @discardableResult
    package func end(_ signal: Int32) async -> Int32 {
        guard let child = self.child else { return 0 }
        self.child = nil
        kill(child.processIdentifier, signal)
        return await Self.ended(child)
    }

    private static func run(_ child: Process) async throws -> Int32 {
        try child.run()
        return await self.ended(child)
    }

    private static func ended(_ child: Process) async -> Int32 {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                child.waitUntilExit()
                continuation.resume(returning: child.terminationStatus)
            }
        }
    }
}
