import Foundation
import MonitoringEndpoint
import PostgreSQLCluster
import TestSupport
import Testing

/// The health of a server while its database is away.
@Suite(.timeLimit(.minutes(5)))
struct PostgreSQLHealthTests {
    @Test
    func `a server without its database is alive and not ready, and is ready again after it`() async throws {
        let directory = try TemporaryDirectory()
        let cluster = try PostgreSQLCluster.running()
        let database = try cluster.emptyDatabase()
        let socket = directory.path + "/m.sock"
        let server = try ChildProcess(
            ChildProcess.tidemark,
            [
                "serve", "--listen", "127.0.0.1:0", "--data", directory.path + "/data", "--engine",
                "postgres", "--database-sync", "off",
                "--database-url", cluster.url(database: database), "--metrics-listen", "unix:" + socket,
            ]
        )
        let isListening = await server.find { $0.contains(" listens on ") ? true : nil }
        try #require(isListening == true, "\(server.errorsSoFar)")
        func page(_ path: String) async throws -> HTTPPeer.Response {
            try await HTTPPeer.ask(.unix(path: socket), path)
        }
        #expect(try await page("/readyz").status == 200)
        // As after the end of PostgreSQL: sessions are gone, and new ones are refused.
        try cluster.administer("ALTER DATABASE \(database) ALLOW_CONNECTIONS false")
        try cluster.administer(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(database)'"
        )
        let away = try await page("/readyz")
        #expect(away.status == 503 && away.body.contains("store: it cannot be read"), "\(away.body)")
        #expect(try await page("/healthz").status == 200)
        try cluster.administer("ALTER DATABASE \(database) ALLOW_CONNECTIONS true")
        #expect(try await page("/readyz").status == 200)
        server.signal(SIGTERM)
        #expect(await server.outcome().exitCode == 0)
    }
}
