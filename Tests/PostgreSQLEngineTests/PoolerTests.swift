import Foundation
import PostgreSQLCluster
import TestSupport
import Testing

@testable import PostgreSQLEngine

/// Databases behind pgbouncer, and servers that do not prove which ones they are.
@Suite(.timeLimit(.minutes(10)))
struct PoolerTests {
    /// Starts pgbouncer before the cluster of the tests, on a socket beside the cluster's.
    private static func start(_ mode: String) async throws -> (process: ChildProcess, port: Int) {
        let folder = try PostgreSQLCluster.running().folder
        let port = FreePort.take()
        let file = "\(folder)/pgbouncer-\(port).ini"
        try """
        [databases]
        * = host=\(folder) user=tidemark
        [pgbouncer]
        listen_addr =
        listen_port = \(port)
        unix_socket_dir = \(folder)
        auth_type = any
        pool_mode = \(mode)
        ignore_startup_parameters = extra_float_digits
        """.write(toFile: file, atomically: false, encoding: .utf8)
        // It refuses to run as root.
        let user = geteuid() == 0 ? ["--reuid=postgres", "--regid=postgres", "--init-groups"] : []
        let process = try ChildProcess(
            URL(fileURLWithPath: "/usr/bin/setpriv"),
            user + ["/usr/sbin/pgbouncer", file]
        )
        while !FileManager.default.fileExists(atPath: "\(folder)/.s.PGSQL.\(port)") {
            try await Task.sleep(for: .milliseconds(25))
        }
        return (process, port)
    }

    @Test(arguments: [("transaction", false), ("session", true)])
    func `a pooler is used in session mode, and refused in transaction mode`(
        mode: String,
        isUsed: Bool
    ) async throws {
        let cluster = try PostgreSQLCluster.running()
        let database = try cluster.emptyDatabase()
        let pooler = try await Self.start(mode)
        let target = try ConnectionTarget(cluster.url(database: database) + "&port=\(pooler.port)")
        if isUsed {
            _ = try PostgreSQLEngine.prepare(target)
        } else {
            #expect(throws: PostgreSQLEngineError.poolsTransactions(target: target.text)) {
                try PostgreSQLEngine.prepare(target)
            }
        }
        pooler.process.signal(SIGKILL)
        _ = await pooler.process.outcome()
    }

    @Test
    func `a server on another machine has to prove which one it is, or there is a warning`() throws {
        let urls: [(String, Bool)] = [
            ("postgresql:///notes?host=/run/postgresql", false), ("postgresql://localhost/notes", false),
            ("postgresql://127.0.0.1:5433/notes", false), ("postgresql://db.example.org/notes", true),
            ("postgresql://db.example.org/notes?sslmode=require", true),
            ("postgresql://db.example.org/notes?sslmode=verify-full", false),
            ("postgresql://localhost,db.example.org/notes", true),
        ]
        for (url, isUnverified) in urls {
            #expect(try ConnectionTarget(url).isUnverified == isUnverified, "\(url)")
        }
    }
}
