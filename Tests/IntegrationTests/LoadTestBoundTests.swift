import Foundation
import TestSupport
import Testing

/// How a run of `tidemark-load` ends whose figures are not good enough.
@Suite(.timeLimit(.minutes(10)))
struct LoadTestBoundTests {
    private static let small = ["--connections", "2", "--records", "320", "--warm-up", "0.1"]

    @Test
    func `a bound that is crossed fails the run, and says which`() async throws {
        let load = try await LoadTestProcess.start(users: 1)
        let bounds = ["--fail-if", "p99>0.001us", "--fail-if", "failed>0", "--fail-if", "rate<0.001"]
        let beyond = try await load.begin(["mix", "--duration", "0.5"] + Self.small + bounds).outcome()
        #expect(beyond.exitCode == 1, "\(beyond.errors)")
        #expect(beyond.errors.contains("tidemark-load: p99>0.001us: "), "\(beyond.errors)")
        #expect(!beyond.errors.contains("failed>0:") && !beyond.errors.contains("rate<0.001:"))
        #expect(beyond.output.contains("\nall "))
        let within = ["--fail-if", "p99>3600s", "--fail-if", "failed>0"]
        let good = try await load.begin(["save", "--duration", "0.5"] + Self.small + within).outcome()
        #expect(good.exitCode == 0, "\(good.errors)")
    }

    /// A quota has room for the records and for a few files.
    @Test
    func `a run with failed requests ends with 70, unless a bound allows them`() async throws {
        let load = try await LoadTestProcess.start(users: 1)
        #expect(await load.server.end(SIGTERM) == 0)
        load.server.settings += ["--set", "user_bytes_max=4000000"]
        try await load.server.start()
        let arguments = ["assets", "--duration", "1", "--asset-bytes", "1000000"] + Self.small
        let failing = try await load.begin(arguments).outcome()
        #expect(failing.exitCode == 70, "\(failing.output)\(failing.errors)")
        #expect(failing.errors.contains(/\d+ requests failed, as the table says/), "\(failing.errors)")
        #expect(failing.output.contains("quotaExceeded"))
        let allowed = try await load.begin(arguments + ["--fail-if", "failed>100%"]).outcome()
        #expect(allowed.exitCode == 0, "\(allowed.output)\(allowed.errors)")
        #expect(allowed.output.contains("quotaExceeded"))
    }

    @Test(arguments: ["--token", "--user-token"])
    func `a token that the server does not know is refused with 70, under either name`(
        option: String
    ) async throws {
        let load = try await LoadTestProcess.start(users: 1)
        let connection = [
            "--url", "tidemark://127.0.0.1:\(load.server.port)", "--ca", load.server.authorityPath,
            "--container", LoadTestProcess.container, option, "wrong",
        ]
        let outcome = try await ChildProcess.run(
            ChildProcess.buildFolder.appendingPathComponent("tidemark-load"),
            ["save", "--duration", "0.2"] + connection
        )
        #expect(outcome.exitCode == 70, "\(outcome.errors)")
        let listened = try await ChildProcess.run(
            ChildProcess.buildFolder.appendingPathComponent("tidemark-listen"),
            ["--zone", "desk"] + connection
        )
        #expect(listened.exitCode == 65, "\(listened.errors)")
    }
}
