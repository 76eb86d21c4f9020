import CloudKit
import Foundation
import RecordClient
import RecordModel
import ServerCertificates
import TestSupport
import Testing
import WireProtocol

/// What an operator asks of a server that runs: its state, and another certificate.
@Suite(.timeLimit(.minutes(10)))
struct RunningServerTests {
    private let directory: TemporaryDirectory
    private var data: String { self.directory.path + "/data" }

    init() throws {
        self.directory = try TemporaryDirectory()
    }

    private func status() async throws -> (exitCode: Int32, line: String, json: [String: Any]) {
        let text = try await ChildProcess.tidemark("status", "--data", self.data)
        let json = try await ChildProcess.tidemark("status", "--json", "--data", self.data)
        #expect(text.exitCode == json.exitCode)
        let object = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
        return (text.exitCode, text.output, object ?? [:])
    }

    @Test
    func `status tells serving, hanging and stopped apart`() async throws {
        let server = try await ServerUnderTest.start(data: self.data)
        let serving = try await self.status()
        #expect(serving.exitCode == 0)
        #expect(
            serving.line.hasPrefix(
                "serving: on \(server.address), process \(server.process.processID), version"
            )
        )
        #expect(serving.line.hasSuffix("data \(self.data)\n"))
        #expect(serving.json["state"] as? String == "serving")
        #expect(serving.json["process"] as? Int == Int(server.process.processID))
        #expect(serving.json["listen"] as? String == server.address)
        #expect(serving.json["format"] is Int)
        #expect((serving.json["since"] as? String)?.hasSuffix("Z") == true)

        server.process.signal(SIGSTOP)
        let hanging = try await self.status()
        #expect(hanging.exitCode == 69)
        #expect(hanging.line.hasPrefix("not answering: on \(server.address), process"))

        server.process.signal(SIGKILL)
        _ = await server.process.outcome()
        let stopped = try await self.status()
        #expect(stopped.exitCode == 3)
        #expect(stopped.line == "not serving: data \(self.data)\n")
    }

    @Test
    func `status of an absent folder says so at once, and waits for a store in an empty one`() async throws {
        let absent = try await ChildProcess.tidemark("status", "--data", self.data)
        #expect(absent.exitCode == 66 && absent.output.isEmpty)
        #expect(absent.errors.contains("nothing is at \(self.data)"), "\(absent.errors)")
        #expect(!absent.errors.contains("waiting"))
        #expect(!FileManager.default.fileExists(atPath: self.data))
        // A server that was started just before has made the folder.
        try FileManager.default.createDirectory(atPath: self.data, withIntermediateDirectories: true)
        let empty = try await ChildProcess.tidemark("status", "--data", self.data)
        #expect(empty.exitCode == 66 && empty.output.isEmpty)
        #expect(empty.errors.contains("waiting for a server that is preparing \(self.data)"))
        #expect(empty.errors.contains("is not a data folder"))
    }

    private func client(_ server: ServerUnderTest, trusting file: String) -> RecordClient {
        RecordClient(
            configuration: ClientConfiguration(
                host: "127.0.0.1",
                port: server.port,
                trust: .authorities(file: file),
                container: "iCloud.a",
                accessToken: nil
            )
        )
    }

    /// Whether a new connection gets an answer.
    private func isServed(_ client: RecordClient) async -> Bool {
        let zones = FetchZones(scope: .public, selection: .all)
        return (try? await client.perform(.fetchZones(zones), timeout: .seconds(2))) != nil
    }

    @Test
    func `SIGHUP takes a renewed certificate for new connections, and keeps the old one if it is bad`()
        async throws
    {
        let (first, second) = (try ServerCertificates.make(hosts: []), try ServerCertificates.make(hosts: []))
        let chain = self.directory.path + "/chain.pem"
        let key = self.directory.path + "/key.pem"
        func write(_ text: String, _ path: String) throws {
            try text.write(toFile: path, atomically: true, encoding: .utf8)
            chmod(path, 0o600)
        }
        try write(first.chainPEM, chain)
        try write(first.keyPEM, key)
        try write(first.authorityPEM, self.directory.path + "/first-ca.pem")
        try write(second.authorityPEM, self.directory.path + "/second-ca.pem")
        let process = try ChildProcess(
            ChildProcess.tidemark,
            ["serve", "--data", self.data, "--listen", "127.0.0.1:0", "--tls-cert", chain, "--tls-key", key]
        )
        let address = await process.find { $0.firstMatch(of: /listens on (\S+)\n/).map { String($0.1) } }
        let server = ServerUnderTest(process: process, address: try #require(address), authorityPath: chain)
        _ = try await ServerUnderTest.addUser(container: "iCloud.a", data: self.data)
        let old = self.client(server, trusting: self.directory.path + "/first-ca.pem")
        #expect(await self.isServed(old))

        // A key that is not the certificate's: nothing changes.
        try write(second.keyPEM, key)
        process.signal(SIGHUP)
        try await self.waits { process.errorsSoFar.contains("keeping the old settings and certificate") }
        #expect(process.errorsSoFar.contains("the key in \(key) does not belong to the first certificate"))
        let another = self.client(server, trusting: self.directory.path + "/first-ca.pem")
        #expect(await self.isServed(another))

        try write(second.chainPEM, chain)
        process.signal(SIGHUP)
        try await self.waits { process.errorsSoFar.contains("reloaded the settings and the certificate") }
        let new = self.client(server, trusting: self.directory.path + "/second-ca.pem")
        #expect(await self.isServed(new))
        // The connection that was there goes on with what it began with.
        #expect(await self.isServed(old))
        for client in [old, another, new] { await client.shutdown() }
        process.signal(SIGTERM)
        #expect(await process.outcome().exitCode == 0)
    }

    private func waits(_ condition: () -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(20)
        while !condition() {
            try #require(ContinuousClock.now < end)
            try await Task.sleep(for: .milliseconds(10))
        }
    }
}
