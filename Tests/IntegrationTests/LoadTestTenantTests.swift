import CloudKit
import Foundation
import TestSupport
import Testing

/// Tenants of very different greed against the real server, in a process of their own.
@Suite(.timeLimit(.minutes(10)))
struct LoadTestTenantTests {
    private struct Report: Decodable {
        struct Tenant: Decodable {
            let `class`: String
            let requests: Int
            let workSeconds: Double
            let share: Double
            let operations: [String: Times]
        }

        struct Times: Decodable {
            let answers: Int
            let milliseconds: LoadTestResult.Milliseconds
        }

        struct Indices: Decodable {
            let equalWork: Double
            let equalP99: Double
            let satisfaction: Double
        }

        let tenants: [Tenant]
        let jain: Indices
        let prices: [String: [String: Double]]
        let verification: LoadTestResult.Verification?
        let isInterrupted: Bool
    }

    private static let tenants = 6

    private func zones(_ load: LoadTestProcess) async throws -> Set<String> {
        var names: Set<String> = []
        for token in load.tokens {
            let connection = CKServerConnection(
                url: "tidemark://127.0.0.1:\(load.server.port)",
                token: token,
                certificateAuthority: .file(load.server.authorityPath)
            )
            let container = CKContainer(identifier: LoadTestProcess.container, connection: connection)
            names.formUnion(try await container.privateCloudDatabase.allRecordZones().map(\.zoneID.zoneName))
            await connection.close()
        }
        return names
    }

    @Test
    func `every tenant is in the report, nothing is lost, and nothing is left`() async throws {
        let load = try await LoadTestProcess.start(users: Self.tenants)
        let page = load.server.folder.path + "/tenants.html"
        // An index that no run reaches: what it was is in the report all the same.
        let outcome = try await load.run(
            "--tenants",
            "\(Self.tenants)",
            "--duration",
            "1",
            "--warm-up",
            "0.2",
            "--jain-min",
            "1",
            "--report",
            page
        )
        #expect(outcome.exitCode == 1, "\(outcome.errors)")
        #expect(outcome.output.contains("NOT REACHED"), "\(outcome.output)")
        let report = try JSONDecoder().decode(
            Report.self,
            from: Data(contentsOf: URL(fileURLWithPath: load.jsonPath))
        )
        let counts = Dictionary(grouping: report.tenants, by: \.class).mapValues(\.count)
        #expect(counts == ["ordinary": 4, "batches": 1, "queries": 1])
        #expect(report.tenants.contains { $0.requests > 0 && $0.workSeconds > 0 }, "\(outcome.output)")
        #expect(abs(report.tenants.reduce(0) { $0 + $1.share } - 1) < 0.001)
        for tenant in report.tenants {
            #expect(tenant.requests == tenant.operations.values.reduce(0) { $0 + $1.answers })
        }
        for index in [report.jain.equalWork, report.jain.equalP99, report.jain.satisfaction] {
            #expect((0...1).contains(index))
        }
        #expect(Set(report.prices.keys) == ["ordinary", "batches", "queries"])
        #expect(!report.isInterrupted)
        let verification = try #require(report.verification)
        #expect(verification.violations.count == 0, "\(verification.violations.first)")
        #expect(verification.records >= 4 * 120 + 1_200 + 1_000)
        #expect(try await self.zones(load) == [CKRecordZone.ID.defaultZoneName])
        #expect(try String(contentsOfFile: page, encoding: .utf8).contains("ordinary (4)"))
    }

    @Test
    func `tenants without a user each are wrong usage, and nothing is asked for`() async throws {
        let program = ChildProcess.buildFolder.appendingPathComponent("tidemark-load")
        let nowhere = ["--url", "tidemark://127.0.0.1:1", "--container", "iCloud.x", "--token", "x"]
        let outcome = try await ChildProcess.run(program, ["--tenants"] + nowhere)
        #expect(outcome.exitCode == 64)
        #expect(outcome.errors.contains("100 tenants need a user each"), "\(outcome.errors)")
    }
}
