import Administration
import Foundation
import Logging
import MonitoringEndpoint
import NIOCore
import RecordClient
import RecordModel
import RecordStore
import ServerCertificates
import Synchronization
import TestSupport
import Testing
import WireProtocol

@testable import RecordServer
@testable import tidemark

/// The pages that a server serves with `metrics_listen`.
@Suite(.timeLimit(.minutes(10)))
struct ServedMetricsTests {
    private let folder: TemporaryDirectory
    private var data: String { self.folder.path + "/data" }
    private var socket: EndpointAddress { .unix(path: self.folder.path + "/metrics.sock") }

    init() throws {
        self.folder = try TemporaryDirectory()
    }

    /// The address that a server's log has.
    private func address(of process: ChildProcess) throws -> EndpointAddress {
        let match = try #require(process.errorsSoFar.firstMatch(of: /serving metrics address=(\S+)\n/))
        return try MetricsListen.address(String(match.1))
    }

    @Test(arguments: ["127.0.0.1:0", "[::1]:0", "localhost:0", "unix"])
    func `a server serves all metrics, its health and its readiness`(listen: String) async throws {
        let server = try await ServerUnderTest.start(
            data: self.data,
            "--metrics-listen",
            listen == "unix" ? self.socket.description : listen
        )
        let address = try self.address(of: server.process)
        let metrics = try await HTTPPeer.ask(address, "/metrics")
        #expect(metrics.status == 200)
        #expect(metrics.fields["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
        let read = ExpositionGrammar(metrics.body)
        #expect(read.faults == [])
        #expect(Set(read.families.keys) == Set(MetricName.allCases.map(\.rawValue)))
        for path in ["/healthz", "/readyz"] {
            let response = try await HTTPPeer.ask(address, path)
            #expect(response.status == 200 && response.body == "ok\n", "\(path) \(response)")
        }
        server.process.signal(SIGTERM)
        let outcome = await server.process.outcome()
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
        #expect(!FileManager.default.fileExists(atPath: self.folder.path + "/metrics.sock"))
    }

    /// Runs the lines of the guide that begin with `curl`, with this server's address.
    @Test
    func `the commands of the guide do what it says`() async throws {
        let guide = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../Sources/tidemark/METRICS.md")
        let lines = try String(contentsOf: guide, encoding: .utf8).split(separator: "\n")
            .filter { $0.hasPrefix("curl ") }
        #expect(lines.count == 4)
        for listen in ["127.0.0.1:0", self.socket.description] {
            let server = try await ServerUnderTest.start(data: self.data, "--metrics-listen", listen)
            let address = try self.address(of: server.process).description
            for line in lines where line.contains("--unix-socket") == address.hasPrefix("unix:") {
                let command = String(line).replacing("127.0.0.1:9430", with: address)
                    .replacing("/run/tidemark", with: self.folder.path)
                let shell = URL(fileURLWithPath: "/bin/sh")
                let outcome = try await ChildProcess.run(shell, ["-c", command])
                #expect(outcome.exitCode == 0, "\(command): \(outcome.errors)")
                #expect(outcome.output == "ok\n" || outcome.output.hasPrefix("# HELP tidemark_"))
            }
            server.process.signal(SIGTERM)
            #expect(await server.process.outcome().exitCode == 0)
        }
    }

    @Test
    func `without the setting nothing listens beside the server`() async throws {
        let server = try await ServerUnderTest.start(data: self.data)
        #expect(!server.process.errorsSoFar.contains("serving metrics"))
        server.process.signal(SIGTERM)
        #expect(await server.process.outcome().exitCode == 0)
    }

    @Test
    func `a server that drains is alive and not ready, until it has ended`() async throws {
        let server = try await ServerUnderTest.start(
            data: self.data,
            "--metrics-listen",
            self.socket.description,
            // However slow the machine is, the server still drains when it is asked.
            "--set",
            "drain_timeout_s=3600",
            "--set",
            "slow_reader_timeout_ms=3600000"
        )
        let token = try await ServerUnderTest.addUser(container: "iCloud.a", data: self.data)
        try await self.save(500_000, server, token)
        // Responses that the client does not take keep the server.
        let peer = try await RawPeer.connect(port: server.port, authorityFile: server.authorityPath)
        let hello = Hello(
            container: "iCloud.a",
            environment: .development,
            accessToken: token,
            client: "raw",
            windows: Windows(connectionBytes: 65_536, streamBytes: 65_536)
        )
        await peer.send(Frame(kind: .hello, payload: hello.encoded()))
        #expect(await peer.next()?.kind == .welcome)
        let fetch = Request(
            requestID: nil,
            deadlineMilliseconds: 0,
            operation: .fetchRecords(FetchRecords(scope: .private, ids: [Self.record]))
        )
        for stream in [1, 3, 5] as [UInt32] {
            await peer.send(Frame(kind: .request, stream: stream, payload: fetch.encoded()))
        }
        #expect(await peer.next()?.kind == .items)
        // The first response is through the window as a whole; the server has read the other requests
        // when it holds another.
        var held = 0.0
        while held < 400_000 {
            let metrics = ExpositionGrammar(try await HTTPPeer.ask(self.socket, "/metrics").body)
            held = metrics.value("tidemark_responses_held_bytes") ?? 0
        }

        server.process.signal(SIGTERM)
        while try await HTTPPeer.ask(self.socket, "/readyz").status == 200 {
            try await Task.sleep(for: .milliseconds(5))
        }
        let ready = try await HTTPPeer.ask(self.socket, "/readyz")
        #expect(ready.status == 503)
        #expect(
            ready.body == "draining: the server shuts down, and takes no new requests\n",
            "\(server.process.errorsSoFar)"
        )
        #expect(try await HTTPPeer.ask(self.socket, "/healthz").status == 200)
        let metrics = ExpositionGrammar(try await HTTPPeer.ask(self.socket, "/metrics").body)
        #expect(
            metrics.faults == [] && metrics.value("tidemark_connections_open") == 1,
            "\(server.process.errorsSoFar)"
        )
        try await peer.channel.close().get()
        let outcome = await server.process.outcome()
        #expect(outcome.exitCode == 0, "\(outcome.errors)")
    }

    private static let record = RecordID(zone: .default, recordName: "a")

    /// Saves a record of this many bytes.
    private func save(_ bytes: Int, _ server: ServerUnderTest, _ token: String) async throws {
        let client = RecordClient(
            configuration: ClientConfiguration(
                host: "127.0.0.1",
                port: server.port,
                trust: .authorities(file: server.authorityPath),
                container: "iCloud.a",
                accessToken: token
            )
        )
        let body = RecordBody([Field(name: "data", value: .bytes([UInt8](repeating: 1, count: bytes)))])
        let save = RecordSave(id: Self.record, recordType: "Note", changes: body)
        let modify = ModifyRecords(scope: .private, saves: [save])
        let outcomes = try await client.perform(.modifyRecords(modify), timeout: .seconds(600))
        guard case .recordSaved? = outcomes[0] else {
            throw ServerUnderTest.StartFailure(errors: "\(outcomes)")
        }
        await client.shutdown()
    }

    /// Makes a store unreadable, as another program could.
    private func damageStore() async throws {
        let script = """
            import os, sqlite3, sys
            store = sqlite3.connect(sys.argv[1])
            store.execute("PRAGMA writable_schema = 1")
            store.execute("DELETE FROM sqlite_schema")
            store.execute("PRAGMA schema_version = 987654321")
            store.commit()
            os._exit(0)
            """
        let python = URL(fileURLWithPath: "/usr/bin/python3")
        let outcome = try await ChildProcess.run(python, ["-c", script, self.data + "/tidemark.sqlite"])
        try #require(outcome.exitCode == 0, "\(outcome.errors)")
    }

    @Test
    func `a server is ready when it listens, and not before or after`() async throws {
        let health = ServerHealth()
        let folder = DataFolder(path: self.data)
        let pages = MonitoringPages(health: health, reading: MetricsReading(health: health, folder: folder))
        let settings = Settings.defaults
        let logger = settings.makeLogger(level: LogLevel(.critical))
        let endpoint = try await MonitoringEndpoint(on: self.socket, pages: pages.byPath, logger: logger)
        func ready() async throws -> String { try await HTTPPeer.ask(self.socket, "/readyz").body }
        #expect(try await ready() == "starting: the store is being opened, and perhaps migrated\n")
        #expect(try await HTTPPeer.ask(self.socket, "/healthz").status == 200)
        #expect(ExpositionGrammar(try await HTTPPeer.ask(self.socket, "/metrics").body).faults == [])

        try folder.make()
        let faults = FaultLog(logger)
        let engine = try EngineOpening.make(folder, settings: settings, faults: faults)
        let certificates = try ServerCertificates.make(hosts: [])
        var configuration = settings.server
        configuration.listen.port = 0
        let server = try RecordServer(
            configuration: configuration,
            store: engine.store,
            assetBytes: AssetsOpening.make(
                folder,
                settings: LiveSettings(settings),
                reserveMissingBytes: { 0 }
            ),
            tls: TLSMaterial(certificateChain: certificates.chainPEM, privateKey: certificates.keyPEM),
            faults: faults,
            clock: SystemTime.milliseconds
        )
        health.opened(server, whenFull: "")
        #expect(try await ready() == "starting: the server does not listen yet\n")
        _ = try await server.start()
        #expect(try await ready() == "ok\n")
        let gate = Gate()
        server.context.loops.onEach { _ in gate.wait() }
        let hanging = try await HTTPPeer.ask(self.socket, "/healthz")
        #expect(hanging.status == 503)
        #expect(hanging.body == "hanging: an event loop did not answer within 2 seconds\n")
        #expect(try await HTTPPeer.ask(self.socket, "/metrics").status == 200)
        gate.open()
        #expect(try await ready() == "ok\n")
        try await self.damageStore()
        #expect(try await ready() == "store: it cannot be read\n")
        await server.shutdown(grace: .seconds(1))
        #expect(try await ready() == "stopped: the server has ended, and the process is about to\n")
        #expect(try await HTTPPeer.ask(self.socket, "/healthz").status == 200)
        await engine.store.shutdown()
        await endpoint.stop()
    }

    @Test(
        arguments: [
            ("0.0.0.0:9430", "takes no address that other machines reach, such as 0.0.0.0:9430"),
            (":9430", "takes no address that other machines reach, such as 0.0.0.0:9430"),
            ("192.168.1.2:9430", "put a proxy with both in front of it"),
            ("[::]:9430", "takes no address that other machines reach, such as [::]:9430"),
            ("example.org:9430", "takes no address that other machines reach"),
            ("127.0.0.1", "it takes 127.0.0.1:PORT, [::1]:PORT or unix:PATH"),
            ("127.0.0.1:99999", "it takes 127.0.0.1:PORT, [::1]:PORT or unix:PATH"),
            ("unix:metrics.sock", "the path of a Unix socket begins with /"),
            ("", "is not valid for metrics_listen"),
        ]
    )
    func `an address that other machines could reach is refused, and the error says what to do`(
        listen: String,
        text: String
    ) async throws {
        let outcome = try await ChildProcess.tidemark(
            "serve",
            "--data",
            self.data,
            "--metrics-listen",
            listen
        )
        #expect(outcome.exitCode == 64)
        #expect(outcome.errors.contains(text), "\(outcome.errors)")
        #expect(!FileManager.default.fileExists(atPath: self.data))
    }

    @Test
    func `an address that is taken is an error before anything is made`() async throws {
        let server = try await ServerUnderTest.start(
            data: self.data,
            "--metrics-listen",
            self.socket.description
        )
        let other = self.folder.path + "/other"
        let outcome = try await ChildProcess.tidemark(
            "serve",
            "--data",
            other,
            "--listen",
            "127.0.0.1:0",
            "--metrics-listen",
            self.socket.description
        )
        #expect(outcome.exitCode == 69)
        #expect(outcome.errors.contains("another process listens there"), "\(outcome.errors)")
        #expect(!FileManager.default.fileExists(atPath: other))
        #expect(try await HTTPPeer.ask(self.socket, "/readyz").status == 200)
        server.process.signal(SIGTERM)
        #expect(await server.process.outcome().exitCode == 0)
    }
}
