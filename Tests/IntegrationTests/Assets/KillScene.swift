import Foundation
import TestSupport
import Testing

/// A program that saves a file and fetches it, its server, and a tap between them.
final class KillScene {
    enum Victim: CaseIterable, Sendable { case server, client }

    static let chunk: Int64 = 256 * 1_024
    static let container = "iCloud.org.example.iso-codes"
    private static let limit = Duration.seconds(60)

    let files: SampleFiles
    let file: URL
    let size: Int64
    let server: ServerProcess
    let tap: TransferTap
    /// What the server has on disk.
    let stored: ServerFiles
    let cache: String
    private let environment: [String: String]
    private var program: ChildProcess

    init(bytes: Int64, seed: UInt64) async throws {
        self.files = try SampleFiles()
        self.size = bytes
        self.file = try self.files.make("f", bytes: Int(bytes), seed: seed)
        self.server = try ServerProcess(settings: ["--set", "asset_chunk_bytes=\(Self.chunk)"])
        self.stored = try ServerFiles(folder: self.server.dataPath + "/assets", of: self.file)
        try await self.server.administer(["container", "create", Self.container])
        let token = try await self.server.administer(["user", "add", "alice", "--container", Self.container])
        try await self.server.start()
        self.tap = try TransferTap()
        let authority = try String(contentsOfFile: self.server.authorityPath, encoding: .utf8)
        let port = try await self.tap.start(for: self.server.port, authorityPEM: authority)
        let trusted = self.files.url("ca.pem")
        try self.tap.authorityPEM.write(to: trusted, atomically: true, encoding: .utf8)
        self.cache = self.files.url("cache").path
        self.environment = [
            "TIDEMARK_URL": "tidemark://localhost:\(port)", "TIDEMARK_CA": trusted.path,
            "TIDEMARK_TOKEN": token, "TIDEMARK_CACHE": self.cache,
        ]
        self.program = try Self.program(self.file, self.environment)
    }

    private static func program(_ file: URL, _ environment: [String: String]) throws -> ChildProcess {
        try ChildProcess(
            ChildProcess.buildFolder.appendingPathComponent("iso-codes-service"),
            ["file", file.path],
            environment: environment
        )
    }

    /// Kills one side and starts it again; `meanwhile` is executed when it is dead.
    func kill(_ victim: Victim, meanwhile: () async throws -> Void) async throws {
        let connections = self.tap.openConnections
        switch victim {
        case .server:
            await self.server.end(SIGKILL)
            try await self.wait("the tap sees it") { self.tap.openConnections.isDisjoint(with: connections) }
            try await meanwhile()
            try await self.server.start()
        case .client:
            self.program.signal(SIGKILL)
            _ = await self.program.outcome()
            try await self.wait("the tap sees it") { self.tap.openConnections.isDisjoint(with: connections) }
            // The server keeps what it can of an upload that ended.
            try await self.wait("the server closes the file") {
                !self.stored.isOpen(by: self.server.processID ?? 0)
            }
            try await meanwhile()
            self.program = try Self.program(self.file, self.environment)
        }
    }

    struct NeverCame: Error, CustomStringConvertible {
        let description: String
    }

    func wait(_ what: String, _ isSo: () throws -> Bool) async throws {
        let end = ContinuousClock.now + Self.limit
        while try !isSo() {
            guard ContinuousClock.now < end else {
                let lives = self.tap.lives(.toServer).suffix(2) + self.tap.lives(.toClient).suffix(2)
                throw NeverCame(description: "\(what): never; \(lives)")
            }
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    /// Waits for the program; its file came back as it was, the server has it once, and nothing else is left.
    func finish() async throws {
        let outcome = await self.program.outcome()
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("Uploaded and downloaded, both SHA-256"))
        #expect(self.stored.names().count == 1, "\(self.stored.names())")
        #expect(ServerFiles.partialBytes(in: self.cache) == 0)
        #expect(try self.stored.durable() == self.size)
        let verified = try await self.server.administer(["assets", "verify"])
        #expect(verified == "1 assets, \(self.size) bytes: 1 intact")
        #expect(self.tap.lives(.toServer).allSatisfy { !$0.hasGap })
        #expect(self.tap.lives(.toClient).allSatisfy { !$0.hasGap })
    }

    /// When no record names it the asset goes, and nothing of it is left.
    func expectNoOrphan() async throws {
        try await self.tap.end()
        try await self.server.administer(["schema", "reset", "--container", Self.container, "--yes"])
        await self.server.end(SIGTERM)
        self.server.settings += ["--set", "asset_grace_s=1", "--set", "asset_sweep_interval_s=1"]
        try await self.server.start()
        try await self.wait("the sweep") { self.stored.names().isEmpty }
        await self.server.end(SIGTERM)
    }
}
