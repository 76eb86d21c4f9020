import CloudKit
import Foundation
import TestSupport
import Testing

/// A program that saves and fetches a file, and its server, killed while they do.
@Suite(.timeLimit(.minutes(5)))
struct AssetKillTests {
    private static let chunk = 8 << 20
    /// What travels besides an asset's bytes for each kill: handshakes, frames, and what was on its way.
    private static let slack = 4 << 20

    @Test
    func `a file arrives whole though client and server are killed in turn, and little of it travels twice`()
        async throws
    {
        var generator = SeededGenerator.fromEnvironment()
        print("SEED=\(generator.seed)")
        let size = 4 * Self.chunk + 99
        let files = try SampleFiles()
        let file = try files.make("f", bytes: size, seed: generator.seed)
        let server = try ServerProcess()
        let container = "iCloud.org.example.iso-codes"
        try await server.administer(["container", "create", container])
        let token = try await server.administer(["user", "add", "alice", "--container", container])
        try await server.start()
        let proxy = CuttingProxy()
        let port = try await proxy.start(for: server.port)
        let environment = [
            "TIDEMARK_URL": "tidemark://127.0.0.1:\(port)", "TIDEMARK_CA": server.authorityPath,
            "TIDEMARK_TOKEN": token, "TIDEMARK_CACHE": files.url("cache").path,
        ]
        func start() throws -> ChildProcess {
            try ChildProcess(
                ChildProcess.buildFolder.appendingPathComponent("iso-codes-service"),
                ["file", file.path],
                environment: environment
            )
        }
        // At the boundaries of chunks and at random bytes, on the way there and on the way back.
        var marks = (1...8).map { $0 * Self.chunk + 30_000 }
        for _ in 0..<4 { marks.append(Int.random(in: 10_000..<2 * size - 100_000, using: &generator)) }
        var program = try start()
        for (number, mark) in marks.sorted().enumerated() {
            while proxy.counts.toServer + proxy.counts.toClient < mark {
                try await Task.sleep(for: .milliseconds(1))
            }
            if number.isMultiple(of: 2) {
                program.signal(SIGKILL)
                _ = await program.outcome()
                program = try start()
            } else {
                await server.end(SIGKILL)
                try await server.start()
            }
        }
        let outcome = await program.outcome()
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("Uploaded and downloaded, both SHA-256"))
        let (toServer, toClient) = (proxy.counts.toServer, proxy.counts.toClient)
        #expect(toServer < size + marks.count * (Self.chunk + Self.slack))
        #expect(toClient < size + marks.count * Self.slack)
        await server.end(SIGTERM)
        try await proxy.stop()
    }
}
