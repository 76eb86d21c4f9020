package import Foundation
import Synchronization

/// A program as a child process.
///
/// Made with `posix_spawn`: Foundation's `Process` crashes on Linux in a run that has a thousand files open.
package final class ChildProcess: Sendable {
    package struct Outcome: Sendable {
        /// The exit code, or the number of the signal that ended the program.
        package let exitCode: Int32
        package let output: String
        package let errors: String
    }

    package struct StartFailed: Error {
        package let path: String
        package let code: Int32
    }

    /// Next to the program that runs the tests: what the same build made.
    package static let buildFolder: URL = {
        let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return URL(fileURLWithPath: own ?? CommandLine.arguments[0]).deletingLastPathComponent()
    }()

    package static var tidemark: URL { self.buildFolder.appendingPathComponent("tidemark") }

    package let processID: Int32
    private let output = CollectedText()
    private let errors = CollectedText()
    private let ending = ExitLatch()

    /// Starts a program with this process's environment, less what configures Tidemark, and what is given.
    package init(_ executable: URL, _ arguments: [String], environment: [String: String] = [:]) throws {
        let inherited = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("TIDEMARK_") }
        let variables = inherited.merging(environment) { $1 }.map { "\($0.key)=\($0.value)" }
        self.processID = try spawn(
            executable.path,
            [executable.path] + arguments,
            variables,
            output: self.output.writingDescriptor,
            errors: self.errors.writingDescriptor
        )
        self.output.startReading()
        self.errors.startReading()
        Thread.detachNewThread { [ending = self.ending, processID = self.processID] in
            ending.await(processID)
        }
    }

    /// Runs a program to its end.
    package static func run(
        _ executable: URL,
        _ arguments: [String],
        environment: [String: String] = [:]
    ) async throws -> Outcome {
        try await ChildProcess(executable, arguments, environment: environment).outcome()
    }

    /// Runs `tidemark` to its end.
    package static func tidemark(
        _ arguments: String...,
        environment: [String: String] = [:]
    ) async throws -> Outcome {
        try await self.run(self.tidemark, arguments, environment: environment)
    }

    /// Sends a signal, unless the program has ended.
    package func signal(_ number: Int32) {
        self.ending.unlessEnded { kill(self.processID, number) }
    }

    /// The first text of the output that the body finds, or `nil` when the program has ended without it.
    package func find<Found>(_ body: (String) -> Found?) async -> Found? {
        await self.output.find(body)
    }

    /// The same of its standard error.
    package func findError<Found>(_ body: (String) -> Found?) async -> Found? {
        await self.errors.find(body)
    }

    /// Waits for the end.
    package func outcome() async -> Outcome {
        let exitCode = await self.ending.value()
        let output = await self.output.whole()
        let errors = await self.errors.whole()
        return Outcome(exitCode: exitCode, output: output, errors: errors)
    }

    /// What the program has written to its standard error so far.
    package var errorsSoFar: String { self.errors.soFar }

    deinit {
        self.signal(SIGKILL)
    }
}

/// Glibc hides this one from Swift behind a feature macro.
///
/// SAFETY: the declaration is that of `spawn.h`, since glibc 2.34.
@_silgen_name("posix_spawn_file_actions_addclosefrom_np")
@discardableResult
private func closeFrom(_ actions: UnsafeMutablePointer<posix_spawn_file_actions_t>, _ first: Int32) -> Int32

private func spawn(
    _ path: String,
    _ arguments: [String],
    _ environment: [String],
    output: Int32,
    errors: Int32
) throws -> Int32 {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, output, 1)
    posix_spawn_file_actions_adddup2(&actions, errors, 2)
    // A child that inherited the sockets of servers in this process would keep their ports taken.
    closeFrom(&actions, 3)
    let argumentPointers = arguments.map { strdup($0) }
    let environmentPointers = environment.map { strdup($0) }
    defer { for pointer in argumentPointers + environmentPointers { free(pointer) } }
    var processID: pid_t = 0
    let code = posix_spawn(
        &processID,
        path,
        &actions,
        nil,
        argumentPointers + [nil],
        environmentPointers + [nil]
    )
    guard code == 0 else { throw ChildProcess.StartFailed(path: path, code: code) }
    return processID
}

/// What a child writes, read on a thread of its own.
private final class CollectedText: Sendable {
    private let reading: FileHandle
    private let writing: FileHandle
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation
    private let text = Mutex("")

    init() {
        var ends: [Int32] = [-1, -1]
        precondition(pipe(&ends) == 0)
        self.reading = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
        self.writing = FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
        (self.stream, self.continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    var writingDescriptor: Int32 { self.writing.fileDescriptor }

    /// Closes our end of what the child writes to, and reads until the child closes its own.
    func startReading() {
        try? self.writing.close()
        Thread.detachNewThread { [self] in
            while true {
                let data = self.reading.availableData
                if data.isEmpty { break }
                self.text.withLock { $0 += String(decoding: data, as: UTF8.self) }
                self.continuation.yield()
            }
            self.continuation.finish()
        }
    }

    var soFar: String { self.text.withLock { $0 } }

    func find<Found>(_ body: (String) -> Found?) async -> Found? {
        if let found = body(self.soFar) { return found }
        for await _ in self.stream {
            if let found = body(self.soFar) { return found }
        }
        return body(self.soFar)
    }

    func whole() async -> String {
        _ = await self.find { _ in Never?.none }
        return self.soFar
    }
}

/// The end of a child, for whoever asks, before or after.
private final class ExitLatch: Sendable {
    private enum State {
        case running([CheckedContinuation<Int32, Never>])
        case ended(Int32)
    }

    private let state = Mutex(State.running([]))

    /// Waits until the child has ended, leaves it a zombie until that is known here, so that its
    /// number is not another's.
    func await(_ processID: Int32) {
        var info = siginfo_t()
        while waitid(P_PID, id_t(processID), &info, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        self.state.withLock { state in
            var status: Int32 = 0
            waitpid(processID, &status, 0)
            // The low seven bits are the signal's number, or 0: then the next eight are the exit code.
            let code = status & 0x7F == 0 ? status >> 8 & 0xFF : status & 0x7F
            if case .running(let waiting) = state {
                for continuation in waiting { continuation.resume(returning: code) }
            }
            state = .ended(code)
        }
    }

    func unlessEnded(_ body: () -> Void) {
        self.state.withLock { state in
            if case .running = state { body() }
        }
    }

    func value() async -> Int32 {
        await withCheckedContinuation { continuation in
            self.state.withLock { state in
                switch state {
                case .ended(let code): continuation.resume(returning: code)
                case .running(let waiting): state = .running(waiting + [continuation])
                }
            }
        }
    }
}
