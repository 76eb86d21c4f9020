import CloudKitTesting
import Foundation
import PostgreSQLCluster
import PostgreSQLEngine
import RecordStore
import Synchronization

/// The engine of test servers in this process.
///
/// It is SQLite's, or with `TIDEMARK_TEST_ENGINE=postgres` PostgreSQL's.
///
/// `Scripts/test` runs the suites that use it once with each.
enum ChosenEngine {
    static let isPostgreSQL = ProcessInfo.processInfo.environment["TIDEMARK_TEST_ENGINE"] == "postgres"

    /// Has every test server from now on keep its store in a database of its own.
    fileprivate static let isInstalled: Bool = {
        guard Self.isPostgreSQL else { return false }
        TestServer.engineMaker.withLock { maker in
            maker = { folder, clock in
                // The files of assets are there, as beside SQLite's.
                try FileManager.default.createDirectory(
                    atPath: folder,
                    withIntermediateDirectories: true
                )
                // As in the options of a test server: a test moves the clock by days.
                var housekeeping = HousekeepingRules()
                housekeeping.requestIDRetentionSeconds = 10 * 365 * 86_400
                let configuration = PostgreSQLEngineConfiguration(
                    target: try PostgreSQLCluster.running().target(standingFor: folder),
                    role: .server(node: folder),
                    housekeeping: Housekeeping.maker(housekeeping)
                )
                return try PostgreSQLEngine(configuration: configuration, clock: clock) { _ in }
            }
        }
        return true
    }()
}

extension TestServer {
    /// As `run`, with the engine that the run of tests has chosen.
    static func runOnChosenEngine<Value>(
        _ options: Options = .defaults,
        _ body: (TestServer) async throws -> Value
    ) async throws -> Value {
        _ = ChosenEngine.isInstalled
        return try await self.run(options, body)
    }
}
