import RecordModel
import Testing
import WireProtocol

@testable import RecordClient

/// Over real sockets and TLS.
@Suite(.timeLimit(.minutes(10))) struct LoopbackTests {
    private func client(
        port: Int,
        host: String = "127.0.0.1",
        trust: ClientConfiguration.Trust
    ) -> RecordClient {
        RecordClient(
            configuration: ClientConfiguration(
                host: host,
                port: port,
                trust: trust,
                container: "iCloud.example"
            )
        )
    }

    private func misconfiguredText(_ client: RecordClient) async -> String? {
        do {
            _ = try await client.perform(.fetch(), timeout: .seconds(600))
        } catch .misconfigured(let description) {
            return description
        } catch {}
        return nil
    }

    private func unreachableText(_ client: RecordClient, timeout: Duration) async -> String? {
        do {
            _ = try await client.perform(.fetch(), timeout: timeout)
        } catch .unreachable(let description) {
            return description
        } catch {}
        return nil
    }

    @Test(arguments: ["127.0.0.1", "localhost"])
    func `connects by address and by name and performs many requests at once`(host: String) async throws {
        let certificates = try await TestCertificates()
        let server = try await LoopbackServer(certificates)
        let client = self.client(
            port: server.port,
            host: host,
            trust: .authorities(file: certificates.authority)
        )
        let welcome = try await client.welcome(timeout: .seconds(600))
        #expect(welcome.server == "loopback")
        try await withThrowingTaskGroup(of: [UInt32: ItemOutcome].self) { group in
            for _ in 0..<300 { group.addTask { try await client.perform(.delete(), timeout: .seconds(600)) } }
            for try await outcomes in group { #expect(outcomes == [0: .deleted]) }
        }
        await client.shutdown()
        await #expect(throws: ClientError.closed) {
            try await client.perform(.fetch(), timeout: .seconds(600))
        }
        await #expect(throws: ClientError.closed) { try await client.welcome(timeout: .seconds(600)) }
        try await server.close()
    }

    @Test func `a request whose connection is dropped is answered on the next one`() async throws {
        let certificates = try await TestCertificates()
        let server = try await LoopbackServer(certificates, dropFirstRequest: true)
        let client = self.client(port: server.port, trust: .authorities(file: certificates.authority))
        let outcomes = try await client.perform(.delete(), timeout: .seconds(600))
        #expect(outcomes == [0: .deleted])
        await client.shutdown()
        try await server.close()
    }

    @Test func `a task that is cancelled gets its answer at once`() async throws {
        let client = self.client(port: 1, trust: .system)
        let task = Task { try await client.perform(.fetch(), timeout: .seconds(600)) }
        task.cancel()
        await #expect(throws: ClientError.cancelled) { try await task.value }
        await client.shutdown()
    }

    @Test func `a certificate of an authority that is not trusted says what to do`() async throws {
        let server = try await LoopbackServer(try await TestCertificates())
        let others = try await TestCertificates()
        let client = self.client(port: server.port, trust: .authorities(file: others.authority))
        let text = await self.misconfiguredText(client)
        #expect(text?.contains("TIDEMARK_CA") == true, "\(text ?? "no text")")
        await client.shutdown()
        try await server.close()
    }

    @Test(arguments: ["DNS:elsewhere.example,IP:127.0.0.2"])
    func `a certificate for other names is refused`(names: String) async throws {
        let certificates = try await TestCertificates(names: names)
        let server = try await LoopbackServer(certificates)
        for host in ["127.0.0.1", "localhost"] {
            let client = self.client(
                port: server.port,
                host: host,
                trust: .authorities(file: certificates.authority)
            )
            let text = await self.misconfiguredText(client)
            #expect(text?.contains("another host name") == true, "\(text ?? "no text")")
            await client.shutdown()
        }
        try await server.close()
    }

    @Test(arguments: [("/nonexistent/ca.pem", "No such file"), ("/etc/passwd", "no certificate in PEM")])
    func `the error names an authority file that is missing or has no certificate`(
        file: String,
        reason: String
    ) async throws {
        let client = self.client(port: 1, trust: .authorities(file: file))
        let text = await self.misconfiguredText(client)
        #expect(text?.contains(file) == true && text?.contains(reason) == true, "\(text ?? "no text")")
        await client.shutdown()
    }

    @Test func `a request fails with the refused connection when its time is over`() async throws {
        let certificates = try await TestCertificates()
        // Nobody listens there without being root; a port that was just closed may be another test's by now.
        let client = self.client(port: 1, trust: .authorities(file: certificates.authority))
        let text = await self.unreachableText(client, timeout: .seconds(1))
        #expect(text?.contains("refused") == true, "\(text ?? "no text")")
        await client.shutdown()
    }

    @Test func `a server of another protocol is refused`() async throws {
        let certificates = try await TestCertificates()
        let server = try await LoopbackServer(certificates, alpn: "h2")
        let client = self.client(port: server.port, trust: .authorities(file: certificates.authority))
        let text = await self.misconfiguredText(client)
        #expect(text != nil)
        await client.shutdown()
        try await server.close()
    }
}
