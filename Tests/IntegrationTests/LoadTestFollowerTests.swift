import Foundation
import PostgreSQLCluster
import TestSupport
import Testing

/// `--followers`: that feeds without a fault pass, and that a change which a feed passes over is found.
@Suite(.timeLimit(.minutes(10)))
struct LoadTestFollowerTests {
    @Test
    func `followers come to the end of feeds that have everything, and the run says so`() async throws {
        let load = try await LoadTestProcess.start(users: 2)
        let outcome = try await load.run(
            "mix",
            "--verify",
            "--followers",
            "2",
            "--duration",
            "3",
            "--connections",
            "4",
            "--records",
            "640",
            "--page",
            "10"
        )
        #expect(outcome.exitCode == 0, "\(outcome.output)\n\(outcome.errors)")
        #expect(outcome.output.contains(/followed: the end of a feed was reached [0-9,]+ times/))
        #expect(outcome.output.contains("no change was missing, doubled or out of order"))
        // Each of 6 zones at least at the end, by each follower.
        #expect(try #require(try load.result().verification).feedEnds >= 12)
    }

    @Test
    func `changes that a feed passes over are unseen, and fail the run`() async throws {
        let cluster = try PostgreSQLCluster.running()
        let database = try cluster.emptyDatabase()
        let load = try await Self.start(on: cluster.url(database: database))
        let process = try load.begin([
            "save", "--verify", "--followers", "1", "--rate", "30", "--duration", "6", "--connections", "2",
            "--records", "320", "--warm-up", "0",
        ])
        try await LoadTestProcess.hear("\n1 s", from: process)
        let last = try cluster.row("SELECT max(position)::text FROM tidemark.change", in: database)[0]
        // Soon after their commit, changes go from the order that a feed reads.
        let removal = """
            WITH removed AS (DELETE FROM tidemark.change WHERE position > \(last) RETURNING position)
            SELECT count(*)::text FROM removed
            """
        var removed = 0
        while removed < 20, !LoadTestProcess.hasEnded(process.processID) {
            removed += Int(try cluster.row(removal, in: database)[0]) ?? 0
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(removed >= 20)
        let outcome = await process.outcome()
        #expect(outcome.exitCode == 65, "\(outcome.output)\n\(outcome.errors)")
        let violations = try #require(try load.result().verification).violations.first
        let unseen = violations.filter { $0.kind == "unseen" }
        #expect(!unseen.isEmpty && unseen.allSatisfy { $0.expected != $0.found })
        #expect(outcome.output.contains(", by follower 0: expected version "))
    }

    @Test
    func `followers without --verify are refused`() async throws {
        let load = try await LoadTestProcess.start(users: 1)
        let outcome = try await load.run("save", "--followers", "2")
        #expect(outcome.exitCode == 64)
        #expect(outcome.errors.contains("--followers needs --verify"))
    }

    /// A server with its store in PostgreSQL, and a user.
    private static func start(on url: String) async throws -> LoadTestProcess {
        let server = try ServerProcess(
            settings: ["--engine", "postgres", "--database-url", url, "--database-sync", "off"]
        )
        server.settings += [
            "--set", "metrics_file_interval_s=1", "--metrics-file", server.folder.path + "/metrics",
        ]
        try await server.start()
        try await server.administer(["container", "create", LoadTestProcess.container])
        let token = try await server.administer([
            "user", "add", "load", "--container", LoadTestProcess.container,
        ])
        try token.write(toFile: server.folder.path + "/tokens", atomically: true, encoding: .utf8)
        return LoadTestProcess(server: server, tokens: [token])
    }
}
