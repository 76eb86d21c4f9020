import Foundation
import RecordClient
import RecordModel
import TestSupport
import Testing
import WireProtocol

/// A server that is told to stop.
@Suite(.timeLimit(.minutes(10)))
struct ShutdownTests {
    /// A hundred saves are on their way when the signal comes: what was taken is answered, and what
    /// was answered is on disk.
    @Test(arguments: [SIGTERM, SIGINT])
    func `a stop answers what is in flight, loses nothing that was acknowledged, and exits with 0`(
        signal: Int32
    ) async throws {
        let directory = try TemporaryDirectory()
        let server = try await ServerUnderTest.start(data: directory.path)
        let token = try await ServerUnderTest.addUser(container: "iCloud.a", data: directory.path)
        let acknowledged = await self.saveZones(count: 100, server: server, token: token) {
            server.process.signal(signal)
        }
        #expect(!acknowledged.isEmpty)
        let outcome = await server.process.outcome()
        #expect(outcome.exitCode == 0)

        let restarted = try await ServerUnderTest.start(data: directory.path)
        let client = RecordClient(configuration: self.configuration(restarted, token: token))
        let all = FetchZones(scope: .private, selection: .all)
        let outcomes = try await client.perform(.fetchZones(all), timeout: .seconds(600))
        let names = outcomes.values.compactMap { outcome -> String? in
            guard case .zone(let zone) = outcome else { return nil }
            return zone.id.zoneName
        }
        #expect(Set(names).isSuperset(of: acknowledged))
        await client.shutdown()
        restarted.process.signal(SIGTERM)
        #expect(await restarted.process.outcome().exitCode == 0)
    }

    private func configuration(_ server: ServerUnderTest, token: String) -> ClientConfiguration {
        ClientConfiguration(
            host: "127.0.0.1",
            port: server.port,
            trust: .authorities(file: server.authorityPath),
            container: "iCloud.a",
            accessToken: token
        )
    }

    /// Saves zones all at once and calls `firstSaved` when the first is acknowledged.
    private func saveZones(
        count: Int,
        server: ServerUnderTest,
        token: String,
        firstSaved: () -> Void
    ) async -> Set<String> {
        let client = RecordClient(configuration: self.configuration(server, token: token))
        var saved: Set<String> = []
        await withTaskGroup(of: String?.self) { group in
            for number in 0..<count {
                group.addTask {
                    let name = "zone-\(number)"
                    let zone = ZoneID(zoneName: name)
                    let modify = ModifyZones(scope: .private, saves: [zone])
                    let outcomes = try? await client.perform(.modifyZones(modify), timeout: .seconds(5))
                    guard case .zone(_)? = outcomes?[0] else { return nil }
                    return name
                }
            }
            for await name in group {
                guard let name else { continue }
                if saved.isEmpty { firstSaved() }
                saved.insert(name)
            }
        }
        await client.shutdown()
        return saved
    }
}
