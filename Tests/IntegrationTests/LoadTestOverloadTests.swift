import Foundation
import TestSupport
import Testing

/// More than a server can do, from a process of its own; and what ends a run before its time.
@Suite(.timeLimit(.minutes(5)))
struct LoadTestOverloadTests {
    private static let small = ["--connections", "4", "--records", "4000", "--warm-up", "0.5"]

    /// Stops a server four fifths of the time until a program has ended: it does less than anybody asks for then.
    private static func slowed(_ server: Int32, until process: ChildProcess) async -> ChildProcess.Outcome {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                while !Task.isCancelled {
                    kill(server, SIGSTOP)
                    try? await Task.sleep(for: .milliseconds(60))
                    kill(server, SIGCONT)
                    try? await Task.sleep(for: .milliseconds(15))
                }
            }
            let outcome = await process.outcome()
            group.cancelAll()
            return outcome
        }
    }

    // Three times 400 requests of 50 records are more than the fastest machine saves in a fifth of the time.
    @Test
    func `who is refused is told when to come, is admitted then, and loses nothing`() async throws {
        let load = try await LoadTestProcess.start()
        let process = try load.begin(
            [
                "save-batch", "--batch", "50", "--record-bytes", "100", "--overload", "--rate", "400",
                "--duration", "3", "--verify",
            ] + Self.small
        )
        try await LoadTestProcess.hear("usual: ", from: process)
        let outcome = await Self.slowed(try #require(load.server.processID), until: process)
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        let result = try load.result()
        let operation = try #require(result.operations["save-batch"])
        #expect((operation.failures["code 7 requestRateLimited"] ?? 0) > 10, "\(outcome.output)")
        #expect(operation.failures.count == 1, "\(operation.failures)")
        #expect(operation.answers > 0)
        let overload = try #require(result.overload)
        #expect(overload.steps.map(\.part) == ["usual", "overload", "afterwards"])
        #expect(overload.steps[1].reserved > 0)
        #expect(overload.steps[1].retried > 0)
        // A place is good for two seconds: on a machine that is loaded itself some come later. The rule's own tests keep all.
        #expect(try #require(overload.keptShare) > 0.3, "\(outcome.output)")
        #expect(outcome.output.contains("of those who came at the time they were told"))
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `a run that is interrupted says what it has measured`(signal: Int32) async throws {
        let load = try await LoadTestProcess.start(users: 1)
        let process = try load.begin(["save", "--duration", "600"] + Self.small)
        try await LoadTestProcess.hear("\n1 s  ", from: process)
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
        #expect(outcome.errors.contains("it ended with exit code 3; it said:\nsome reason"))
        let result = try load.result()
        #expect(result.measuredSeconds < 60)
        #expect(try #require(result.operations["save"]).answers > 0)
    }
}
