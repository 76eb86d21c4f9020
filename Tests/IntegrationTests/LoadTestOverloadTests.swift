import Foundation
import TestSupport
import Testing

/// More than a server can do, from a process of its own; and what ends a run before its time.
@Suite(.timeLimit(.minutes(10)))
struct LoadTestOverloadTests {
    private static let small = ["--connections", "4", "--records", "4000", "--warm-up", "0.5"]

    /// Leaves to a server's writer a tenth of a processor, on any machine, as long as the loop runs.
    private static func starveWriter(of server: Int32) async throws -> ChildProcess {
        let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(server)/task")
        let writer = try #require(
            threads.compactMap { Int32($0) }.first { thread in
                let name = try? String(contentsOfFile: "/proc/\(server)/task/\(thread)/comm", encoding: .utf8)
                return name == "tidemark-writer\n"
            }
        )
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let processor = String(try #require(status.firstMatch(of: /Cpus_allowed_list:\s*(\d+)/)).output.1)
        let taskset = URL(fileURLWithPath: "/usr/bin/taskset")
        let pinning = try await ChildProcess(taskset, ["-c", "-p", processor, String(writer)]).outcome()
        try #require(pinning.exitCode == 0, "\(pinning.errors)")
        try #require(setpriority(__priority_which_t(PRIO_PROCESS.rawValue), id_t(writer), 10) == 0)
        // It ends by itself, whatever becomes of this process: after so many seconds on its processor.
        return try ChildProcess(taskset, ["-c", processor, "sh", "-c", "ulimit -t 60; while :; do :; done"])
    }

    // There are more batches than may be under way: most requests find one that nobody is writing.
    @Test
    func `who is refused is told when to come, is admitted then, and loses nothing`() async throws {
        let load = try await LoadTestProcess.start()
        let process = try load.begin(
            [
                "save-batch", "--batch", "10", "--record-bytes", "100", "--overload", "--rate", "300",
                "--duration", "3", "--verify",
            ] + Self.small
        )
        try await LoadTestProcess.hear("usual: ", from: process)
        let loop = try await Self.starveWriter(of: try #require(load.server.processID))
        let outcome = await process.outcome()
        loop.signal(SIGKILL)
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        let result = try load.result()
        let operation = try #require(result.operations["save-batch"])
        #expect((operation.failures["code 7 requestRateLimited"] ?? 0) > 100, "\(outcome.output)")
        #expect(operation.failures.count == 1, "\(operation.failures)")
        #expect(operation.answers > 0)
        let overload = try #require(result.overload)
        #expect(overload.steps.map(\.part) == ["usual", "overload", "afterwards"])
        #expect(overload.steps[1].reserved > 0)
        #expect(overload.steps[1].retried > 0)
        // A place is good for two seconds: on a machine that is loaded itself some come later. The
        // rule's own tests keep all.
        #expect(try #require(overload.keptShare) > 0.5, "\(outcome.output)")
        #expect(outcome.output.contains("of the requests that came at their reserved time"))
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `a run that is interrupted says what it has measured`(signal: Int32) async throws {
        let load = try await LoadTestProcess.start(users: 1)
        let process = try load.begin(["save", "--duration", "600"] + Self.small)
        try await LoadTestProcess.hear("\n0 s  ", from: process)
        process.signal(signal)
        let outcome = await process.outcome()
        #expect(outcome.exitCode == 130, "\(outcome.errors)")
        #expect(outcome.output.contains("interrupted after "))
        let result = try load.result()
        #expect(result.isInterrupted)
        #expect((0.5...60).contains(result.measuredSeconds))
        let operation = try #require(result.operations["save"])
        #expect(operation.answers > 0)
        let rate = Double(operation.answers) / result.measuredSeconds
        #expect(abs(operation.ratePerSecond / rate - 1) < 0.01)
    }

    @Test
    func `a command that fails ends the run at once, with what it said`() async throws {
        let load = try await LoadTestProcess.start(users: 1)
        let outcome = try await load.begin(
            [
                "save", "--duration", "600", "--chaos", "echo some reason; exit 3", "--chaos-interval", "1",
            ] + Self.small
        ).outcome()
        #expect(outcome.exitCode == 70)
        #expect(outcome.errors.contains("it exited with code 3; it said:\nsome reason"))
        let result = try load.result()
        #expect(result.measuredSeconds < 60)
        #expect(try #require(result.operations["save"]).answers > 0)
    }
}
