import Foundation
import TestSupport
import Testing

/// `Scripts/cluster`: servers of a cluster are killed, and nothing is lost.
@Suite(.timeLimit(.minutes(30)), .serialized)
struct LoadTestClusterTests {
    /// `TIDEMARK_CLUSTER_SECONDS` is for long runs.
    private static let seconds =
        ProcessInfo.processInfo.environment["TIDEMARK_CLUSTER_SECONDS"].flatMap { Double($0) }

    private static let repository = Readme.repository

    private static func run(_ arguments: [String], in folder: TemporaryDirectory) throws -> ChildProcess {
        try ChildProcess(
            self.repository.appendingPathComponent("Scripts/cluster"),
            arguments,
            environment: ["TIDEMARK_BIN": ChildProcess.buildFolder.path, "TMPDIR": folder.path]
        )
    }

    @Test
    func `a node and the primary are killed while a service saves, and nothing is lost or left behind`()
        async throws
    {
        // The servers of PostgreSQL have another user, who must reach their folder.
        let folder = try TemporaryDirectory()
        try FileManager.default.setAttributes([.posixPermissions: 0o711], ofItemAtPath: folder.path)
        let outcome = try await Self.run(["--seconds", "9"], in: folder).outcome()
        #expect(outcome.exitCode == 0, "\(outcome.output)\n\(outcome.errors)")
        #expect(outcome.output.contains("node1 was killed while the service saved"))
        #expect(outcome.output.contains("the primary was killed while the service saved"))
        let counts = try #require(
            outcome.output.firstMatch(of: /saved (\d+) records, and deleted one. The cluster has (\d+)./)
        )
        #expect(Int(counts.1).map { $0 - 1 } == Int(counts.2))
        #expect(outcome.output.contains("none lost, duplicated or stale"))
        #expect(outcome.output.contains("no change was missing, doubled or out of order"))
        #expect(outcome.output.contains(/s from the kill to the first commit that a standby confirmed/))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test(.enabled(if: Self.seconds != nil, "TIDEMARK_CLUSTER_SECONDS=600 runs it"))
    func `three nodes lose nothing while nodes and the primary are killed at random`() async throws {
        try await Self.expectNothingLost(["--nodes", "3", "--every", "15", "--kill", "any"])
    }

    @Test(.enabled(if: Self.seconds != nil, "TIDEMARK_CLUSTER_SECONDS=600 runs it"))
    func `two nodes lose nothing while the primary is killed every minute`() async throws {
        try await Self.expectNothingLost(["--nodes", "2", "--every", "60", "--kill", "primary"])
    }

    private static func expectNothingLost(_ arguments: [String]) async throws {
        let folder = try TemporaryDirectory()
        try FileManager.default.setAttributes([.posixPermissions: 0o711], ofItemAtPath: folder.path)
        let minutes = "\((Self.seconds ?? 0) / 60)"
        let outcome = try await Self.run(["--chaos", minutes] + arguments, in: folder).outcome()
        print(outcome.output)
        #expect(outcome.exitCode == 0, "\(outcome.output)\n\(outcome.errors)")
    }

    @Test
    func `wrong arguments are refused with what to do`() async throws {
        let folder = try TemporaryDirectory()
        for arguments in [
            ["--nodes", "0"], ["--chaos"], ["--keep", "--chaos", "1"], ["--kill", "all"],
            ["--every", "x"], ["go"],
        ] {
            let outcome = try await Self.run(arguments, in: folder).outcome()
            #expect(outcome.exitCode == 64)
            #expect(outcome.errors.contains("see --help"), "\(arguments)")
        }
    }

    @Test
    func `the guide shows the configuration of HAProxy that the script uses`() throws {
        let guide = try String(
            contentsOf: Self.repository.appendingPathComponent("Sources/tidemark/Guides/PostgreSQL.md"),
            encoding: .utf8
        )
        let file = try String(
            contentsOf: Self.repository.appendingPathComponent("Packaging/haproxy.cfg"),
            encoding: .utf8
        )
        #expect(FencedBlock.all(in: guide).contains { $0.text == file })
    }
}
