import Foundation
import MonitoringEndpoint
import PostgreSQLCluster
import TestSupport
import Testing

/// What an operator sees of a server and its database: while it is away, and of how it is set up.
@Suite(.timeLimit(.minutes(10)))
struct PostgreSQLHealthTests {
    private let directory: TemporaryDirectory
    private let cluster: PostgreSQLCluster
    private let database: String
    private var data: String { self.directory.path + "/data" }
    private var socket: String { self.directory.path + "/m.sock" }

    init() throws {
        self.directory = try TemporaryDirectory()
        self.cluster = try PostgreSQLCluster.running()
        self.database = try self.cluster.emptyDatabase()
    }

    private func started() async throws -> ChildProcess {
        let server = try ChildProcess(
            ChildProcess.tidemark,
            [
                "serve", "--listen", "127.0.0.1:0", "--data", self.data, "--engine",
                "postgres", "--database-sync", "off",
                "--database-url", self.cluster.url(database: self.database),
                "--metrics-listen", "unix:" + self.socket,
            ]
        )
        let isListening = await server.find { $0.contains(" listens on ") ? true : nil }
        try #require(isListening == true, "\(server.errorsSoFar)")
        return server
    }

    private func page(_ path: String) async throws -> HTTPPeer.Response {
        try await HTTPPeer.ask(.unix(path: self.socket), path)
    }

    // The cluster of the tests has to survive no crash.
    @Test
    func `settings that lose saves are in the log, the metrics and the status of each start`() async throws {
        for _ in 0..<2 {
            let server = try await self.started()
            await until { server.errorsSoFar.contains("fsync, full_page_writes") }
            let metric = "tidemark_database_unsafe_settings 2"
            try await until { try await self.page("/metrics").body.contains(metric) }
            let status = try await ChildProcess.run(ChildProcess.tidemark, ["status", "--data", self.data])
            #expect(status.exitCode == 0 && status.output.split(separator: "\n").count == 2)
            #expect(status.output.hasSuffix("it has fsync, full_page_writes off\n"), "\(status.output)")
            server.signal(SIGTERM)
            #expect(await server.outcome().exitCode == 0)
        }
    }

    @Test
    func `a server without its database is alive and not ready, and is ready again after it`() async throws {
        let server = try await self.started()
        #expect(try await self.page("/readyz").status == 200)
        let start = ContinuousClock.now
        // As after the end of PostgreSQL: sessions are gone, and new ones are refused.
        try self.cluster.administer("ALTER DATABASE \(self.database) ALLOW_CONNECTIONS false")
        try self.cluster.administer(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(self.database)'"
        )
        let away = try await self.page("/readyz")
        #expect(away.status == 503 && away.body.contains("store: it cannot be read"), "\(away.body)")
        #expect(try await self.page("/healthz").status == 200)
        await until { server.errorsSoFar.contains("PostgreSQL executes nothing now") }
        try self.cluster.administer("ALTER DATABASE \(self.database) ALLOW_CONNECTIONS true")
        #expect(try await self.page("/readyz").status == 200)
        await until { server.errorsSoFar.contains("PostgreSQL executes requests again") }
        let lines = server.errorsSoFar.split(separator: "\n").filter { $0.contains("PostgreSQL executes") }
        let seconds = Int((ContinuousClock.now - start) / .seconds(1))
        #expect(lines.count <= 2 + seconds / 10, "\(lines)")
        #expect(lines.last?.contains(" refused=0 seconds=") == true, "\(lines)")
        server.signal(SIGTERM)
        #expect(await server.outcome().exitCode == 0)
    }
}
