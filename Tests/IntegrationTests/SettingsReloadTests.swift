import Foundation
import Logging
import RecordClient
import RecordModel
import RecordServer
import RecordStore
import TestSupport
import Testing
import WireProtocol

@testable import tidemark

/// What SIGHUP changes in a server that runs.
@Suite(.timeLimit(.minutes(10)))
struct SettingsReloadTests {
    private let folder: TemporaryDirectory
    private var data: String { self.folder.path + "/data" }
    private var file: String { self.folder.path + "/settings.json" }

    init() throws {
        self.folder = try TemporaryDirectory()
    }

    private func write(_ text: String) throws {
        try text.write(toFile: self.file, atomically: true, encoding: .utf8)
    }

    /// The line of the log about one reload, once it is there.
    private func reload(_ process: ChildProcess) async throws -> String {
        let before = process.errorsSoFar.count
        process.signal(SIGHUP)
        let end = ContinuousClock.now + .seconds(20)
        while true {
            let lines = process.errorsSoFar.dropFirst(before).split(separator: "\n")
            let line = lines.first {
                $0.contains("the settings and the certificate") || $0.contains("keeping the old settings")
            }
            if let line { return String(line) }
            try #require(ContinuousClock.now < end)
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    private func client(_ server: ServerUnderTest, _ token: String) -> RecordClient {
        RecordClient(
            configuration: ClientConfiguration(
                host: "127.0.0.1",
                port: server.port,
                trust: .authorities(file: server.authorityPath),
                container: "iCloud.a",
                accessToken: token
            )
        )
    }

    private func saveZone(_ name: String, _ client: RecordClient) async throws -> Saved {
        let modify = ModifyZones(scope: .private, saves: [ZoneID(zoneName: name)])
        switch try await client.perform(.modifyZones(modify), timeout: .seconds(600))[0] {
        case .zone: return .saved
        case .failure(let failure): return .failed(failure.code)
        default: return .other
        }
    }

    private enum Saved: Equatable {
        case saved
        case failed(ErrorCode)
        case other
    }

    @Test
    func `SIGHUP changes quotas and the level of the log, and names what needs a restart`() async throws {
        try self.write(#"{"in_flight_max": 100}"#)
        let server = try await ServerUnderTest.start(data: self.data, "--config", self.file)
        let token = try await ServerUnderTest.addUser(container: "iCloud.a", data: self.data)
        let client = self.client(server, token)
        #expect(try await self.saveZone("one", client) == .saved)
        #expect(!server.process.errorsSoFar.contains(" debug "))

        try self.write(#"{"in_flight_max": 200, "user_bytes_max": 1, "log_level": "debug"}"#)
        let first = try await self.reload(server.process)
        let event = #" notice reloaded the settings and the certificate changed="log_level user_bytes_max" "#
        #expect(first.contains(event), "\(first)")
        #expect(first.contains(" need_restart=in_flight_max "), "\(first)")
        #expect(try await self.saveZone("two", client) == .failed(.quotaExceeded))
        let usage = try await ChildProcess.tidemark("usage", "--json", "--data", self.data)
        #expect(usage.output.contains(#""quota" : 1"#), "\(usage.output)")
        let other = self.client(server, token)
        _ = try await self.saveZone("three", other)
        await eventually { server.process.errorsSoFar.contains(" debug signed in ") }

        // The same file again: what waits for a restart still does.
        let second = try await self.reload(server.process)
        #expect(!second.contains("changed=") && second.contains(" need_restart=in_flight_max "), "\(second)")

        try self.write(#"{"in_flight_max": 100, "user_bytes_max": 0}"#)
        let third = try await self.reload(server.process)
        #expect(third.contains(#"changed="log_level user_bytes_max""#), "\(third)")
        #expect(!third.contains("need_restart"), "\(third)")
        #expect(try await self.saveZone("two", client) == .saved)
        for client in [client, other] { await client.shutdown() }
        server.process.signal(SIGTERM)
        #expect(await server.process.outcome().exitCode == 0)
    }

    @Test(
        arguments: [
            (#"{"user_bytes_max": 1, "#, "is not one JSON object"),
            (#"{"user_bytes_max": 1, "log_level": "loud"}"#, "'loud' is not valid for log_level"),
            (#"{"user_bytes_max": 1, "in_fligth_max": 3}"#, "Did you mean 'in_flight_max'?"),
            (#"{"user_bytes_max": 1, "tls_cert": "/no/such", "tls_key": "/no/such"}"#, "/no/such"),
        ]
    )
    func `an error in the file leaves every setting as it was`(text: String, error: String) async throws {
        try self.write("{}")
        let server = try await ServerUnderTest.start(data: self.data, "--config", self.file)
        let token = try await ServerUnderTest.addUser(container: "iCloud.a", data: self.data)
        try self.write(text)
        let line = try await self.reload(server.process)
        #expect(line.contains(" error keeping the old settings and certificate reason="), "\(line)")
        #expect(line.contains(error), "\(line)")
        let client = self.client(server, token)
        #expect(try await self.saveZone("one", client) == .saved)
        await client.shutdown()
        server.process.signal(SIGTERM)
        #expect(await server.process.outcome().exitCode == 0)
    }

    /// A setting says that it is reloadable if, and only if, a reload takes its new value.
    @Test(arguments: NumberSetting.all.map(\.name))
    func `a number is reloaded if its row says so`(name: String) throws {
        let setting = try #require(NumberSetting.all.first { $0.name == name })
        var new = Settings.defaults
        let range = setting.range
        let value = setting.read(new) == range.lowerBound ? range.upperBound : range.lowerBound
        setting.assign(&new, value)
        #expect(Settings.defaults.namesOfDifferences(from: new) == [name])
        let taken = Settings.defaults.reloading(new)
        #expect((setting.read(taken) == value) == setting.isReloadable)
    }

    @Test(
        arguments: [
            (.listen, "1"), (.tlsCertificate, "a"), (.tlsKey, "a"), (.tlsHosts, "a"), (.logLevel, "debug"),
            (.logFormat, "json"), (.logFile, "/a"), (.metricsFile, "a"), (.metricsListen, "127.0.0.1:1"),
            (.webListen, "unix:/a"), (.identityKeys, "a"), (.identityIssuer, "a"), (.identityAudience, "a"),
            (.identityKeysKeep, "never"),
        ] as [(TextSetting, String)]
    )
    func `a text is reloaded if its row says so`(setting: TextSetting, value: String) throws {
        var new = Settings.defaults
        try setting.assign([value], to: &new)
        #expect(Settings.defaults.namesOfDifferences(from: new) == [setting.rawValue])
        let taken = Settings.defaults.reloading(new)
        #expect((setting.read(taken) == setting.read(new)) == setting.isReloadable)
    }

    @Test
    func `the list of settings says what each needs to change`() async throws {
        let outcome = try await ChildProcess.tidemark("settings", "--all", "--json")
        let rows = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [[String: Any]]
        let changes = try #require(rows).map { ("\($0["name"] ?? "")", "\($0["change"] ?? "")") }
        #expect(Set(changes.map(\.0)) == Set(SettingsReader.names))
        let live = changes.filter { $0.1 == "sighup" }.map(\.0)
        #expect(Set(changes.map(\.1)) == ["sighup", "restart"])
        #expect(
            live.sorted() == [
                "container_bytes_max", "disk_reserve_bytes", "drain_timeout_s", "log_level", "tls_cert",
                "tls_hosts", "tls_key", "user_bytes_max",
            ]
        )
        let table = try await ChildProcess.tidemark("settings").output
        #expect(table.contains(" CHANGE "))
    }
}
