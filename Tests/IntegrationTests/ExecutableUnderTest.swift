import Foundation
import Synchronization
import Testing

/// A program of ours as a child process.
final class ExecutableUnderTest: Sendable {
    struct Outcome: Sendable {
        let exitCode: Int32
        let output: String
        let errors: String
    }

    /// Next to the bundle of these tests: what the same build made.
    static let buildFolder: URL = {
        let arguments = CommandLine.arguments
        let bundle = arguments.first { $0.hasSuffix(".xctest") } ?? arguments[0]
        return URL(fileURLWithPath: bundle).deletingLastPathComponent()
    }()

    private let process: Process
    private let output = CollectedText()
    private let errors = CollectedText()
    private let exit = ExitPromise()

    init(
        _ executable: URL,
        _ arguments: [String],
        environment: [String: String] = [:]
    ) throws {
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        let inherited = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("TIDEMARK_") }
        process.environment = inherited.merging(environment) { $1 }
        self.process = process
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = self.output.pipe
        process.standardError = self.errors.pipe
        let exit = self.exit
        process.terminationHandler = { exit.fulfill($0.terminationStatus) }
        try process.run()
    }

    /// Runs `tidemark` to its end.
    static func run(_ arguments: String..., environment: [String: String] = [:]) async throws -> Outcome {
        let child = try ExecutableUnderTest(
            self.buildFolder.appendingPathComponent("tidemark"),
            arguments,
            environment: environment
        )
        return await child.outcome()
    }

    var processNumber: Int32 { self.process.processIdentifier }

    func signal(_ number: Int32) {
        kill(self.process.processIdentifier, number)
    }

    /// The first text of the output that the body finds, or `nil` when the process has ended without it.
    func find<Found>(_ body: (String) -> Found?) async -> Found? {
        await self.output.find(body)
    }

    func outcome() async -> Outcome {
        let exitCode = await self.exit.value()
        let output = await self.output.whole()
        let errors = await self.errors.whole()
        return Outcome(exitCode: exitCode, output: output, errors: errors)
    }

    deinit {
        if self.process.isRunning { kill(self.process.processIdentifier, SIGKILL) }
    }
}

/// What a child writes, read on a thread of Foundation's.
private final class CollectedText: Sendable {
    let pipe = Pipe()
    private let stream: AsyncStream<String>
    private let text = Mutex("")

    init() {
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        self.stream = stream
        let thread = Thread { [handle = self.pipe.fileHandleForReading] in
            while true {
                let data = handle.availableData
                if data.isEmpty { break }
                continuation.yield(String(decoding: data, as: UTF8.self))
            }
            continuation.finish()
        }
        thread.start()
    }

    func find<Found>(_ body: (String) -> Found?) async -> Found? {
        if let found = body(self.text.withLock { $0 }) { return found }
        for await part in self.stream {
            let text = self.text.withLock { text in
                text += part
                return text
            }
            if let found = body(text) { return found }
        }
        return nil
    }

    func whole() async -> String {
        _ = await self.find { _ in Never?.none }
        return self.text.withLock { $0 }
    }
}

/// The exit code of a child, for whoever asks, before or after.
private final class ExitPromise: Sendable {
    private enum State {
        case open([CheckedContinuation<Int32, Never>])
        case fulfilled(Int32)
    }

    private let state = Mutex(State.open([]))

    func fulfill(_ code: Int32) {
        let waiting = self.state.withLock { state -> [CheckedContinuation<Int32, Never>] in
            guard case .open(let waiting) = state else { return [] }
            state = .fulfilled(code)
            return waiting
        }
        for continuation in waiting { continuation.resume(returning: code) }
    }

    func value() async -> Int32 {
        await withCheckedContinuation { continuation in
            let code = self.state.withLock { state -> Int32? in
                switch state {
                case .fulfilled(let code):
                    return code
                case .open(let waiting):
                    state = .open(waiting + [continuation])
                    return nil
                }
            }
            if let code { continuation.resume(returning: code) }
        }
    }
}
