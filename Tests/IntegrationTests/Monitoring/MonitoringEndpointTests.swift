import Foundation
import Logging
import NIOCore
import Synchronization
import TestSupport
import Testing

@testable import MonitoringEndpoint

/// What the endpoint does with clients of every kind, over real sockets.
@Suite(.timeLimit(.minutes(10)))
struct MonitoringEndpointTests {
    private static let loopback = EndpointAddress.Loopback(host: "127.0.0.1", port: 0)

    /// Runs an endpoint with a page `/a`, and with `/slow`, which waits for the gate.
    private func run(
        on address: EndpointAddress? = nil,
        _ change: (inout EndpointBounds) -> Void = { _ in },
        slow gate: PageGate = PageGate(),
        log: any LogHandler = SwiftLogNoOpLogHandler(),
        _ body: (EndpointAddress) async throws -> Void
    ) async throws {
        var bounds = EndpointBounds.defaults
        change(&bounds)
        let endpoint = try await MonitoringEndpoint(
            on: address ?? .loopback(try #require(Self.loopback)),
            pages: [
                "/a": { EndpointPage(.ok, text: "page a\n") },
                "/bad": { EndpointPage(.unavailable, text: "draining\n") },
                "/slow": {
                    await gate.pass()
                    return EndpointPage(.ok, text: "slow\n")
                },
            ],
            bounds: bounds,
            logger: Logger(label: "endpoint") { _ in log }
        )
        do {
            try await body(endpoint.address)
        } catch {
            await endpoint.stop()
            throw error
        }
        await endpoint.stop()
    }

    private func expectServes(_ address: EndpointAddress) async throws {
        let response = try await HTTPPeer.ask(address, "/a")
        #expect(response.status == 200 && response.body == "page a\n")
    }

    @Test
    func `GET has the page, HEAD its fields alone, and a page that is unavailable is a 503`() async throws {
        try await self.run { address in
            let get = try await HTTPPeer.ask(address, "/a?x=1")
            #expect(get.status == 200 && get.body == "page a\n")
            #expect(get.fields["content-type"] == "text/plain; charset=utf-8")
            #expect(get.fields["cache-control"] == "no-store")
            let head = try await HTTPPeer.ask(address, "/a", method: "HEAD")
            #expect(head.status == 200 && head.body.isEmpty && head.fields["content-length"] == "7")
            let bad = try await HTTPPeer.ask(address, "/bad")
            #expect(bad.status == 503 && bad.body == "draining\n")
        }
    }

    @Test
    func `an unknown path is a 404 that names the others, and another method a 405`() async throws {
        try await self.run { address in
            let unknown = try await HTTPPeer.ask(address, "/b")
            #expect(unknown.status == 404 && unknown.body.contains("/a /bad /slow"))
            let absolute = try await HTTPPeer.ask(address, "http://localhost/a")
            #expect(absolute.status == 404)
            for method in ["POST", "DELETE", "OPTIONS"] {
                let response = try await HTTPPeer.ask(address, "/a", method: method)
                #expect(response.status == 405 && response.fields["allow"] == "GET, HEAD", "\(method)")
            }
        }
    }

    @Test(
        arguments: [
            ("localhost", true), ("LOCALHOST:9430", true), ("127.0.0.1:1", true), ("127.1.2.3", true),
            ("[::1]:9430", true), ("attacker.example", false), ("127.0.0.1.attacker.example", false),
            ("10.0.0.1:9430", false), ("[::2]", false), ("[::1", false), ("", false), (nil, false),
        ] as [(String?, Bool)]
    )
    func `a Host field that names another machine is refused`(host: String?, isServed: Bool) async throws {
        try await self.run { address in
            let response = try await HTTPPeer.ask(address, "/a", host: host)
            #expect(response.status == (isServed ? 200 : 421), "\(response)")
            #expect((response.body == "page a\n") == isServed)
        }
    }

    @Test
    func `two Host fields are refused`() async throws {
        try await self.run { address in
            let peer = try await HTTPPeer.connect(address)
            await peer.send("GET /a HTTP/1.1\r\nHost: localhost\r\nHost: x\r\nConnection: close\r\n\r\n")
            let text = await peer.all()
            #expect(text.hasPrefix("HTTP/1.1 421 ") || text.hasPrefix("HTTP/1.1 400 "), "\(text)")
        }
    }

    @Test(arguments: 0..<40)
    func `garbage ends its connection, and the endpoint goes on`(seed: UInt64) async throws {
        let gate = PageGate()
        try await self.run(slow: gate) { address in
            var generator = SeededGenerator(seed: seed)
            let starts = [
                "", "GET ", "GET /a HTTP/1.1\r\n", "GET /a HTTP/9.9\r\n", "\u{16}\u{3}\u{1}",
                "POST /a HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
            ]
            let peer = try await HTTPPeer.connect(address)
            await peer.send(starts[Int(seed) % starts.count])
            let count = Int.random(in: 1...40_000, using: &generator)
            await peer.send((0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) })
            await peer.send("\r\n\r\n")
            let text = await peer.text { $0.contains("\r\n\r\n") }
            #expect(text.isEmpty || text.hasPrefix("HTTP/1.1 4"), "\(text)")
            await peer.close()
            try await self.expectServes(address)
        }
    }

    @Test
    func `a request beyond its bound is a 431, in its head, its target and its body alike`() async throws {
        try await self.run { address in
            let long = String(repeating: "x", count: 20_000)
            for request in [
                "GET /a HTTP/1.1\r\nHost: localhost\r\nX: \(long)\r\n\r\n",
                "GET /\(long) HTTP/1.1\r\nHost: localhost\r\n\r\n",
                "GET /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 90000\r\n\r\n\(long)",
            ] {
                let peer = try await HTTPPeer.connect(address)
                await peer.send(request)
                let text = await peer.all()
                // A reset may overtake the refusal, since the rest was not read.
                #expect(text.isEmpty || text.hasPrefix("HTTP/1.1 431 "), "\(text.prefix(80))")
            }
            let small = try await HTTPPeer.connect(address)
            await small.send(
                "GET /a HTTP/1.1\r\nHost: localhost\r\nX: \(String(repeating: "x", count: 16_200))"
            )
            await small.send(String(repeating: "x", count: 200))
            #expect(await small.all().hasPrefix("HTTP/1.1 431 "))
            try await self.expectServes(address)
        }
    }

    @Test
    func `a client that is slow with its request, or with a second one, is let go`() async throws {
        try await self.run({ $0.requestTimeout = .seconds(1) }) { address in
            let silent = try await HTTPPeer.connect(address)
            #expect(await silent.all().isEmpty)
            // A byte now and then gives it no more time.
            let slow = try await HTTPPeer.connect(address)
            let drip = Task {
                while !Task.isCancelled {
                    await slow.send("G")
                    try await Task.sleep(for: .milliseconds(20))
                }
            }
            _ = await slow.all()
            drip.cancel()
            let idle = try await HTTPPeer.connect(address)
            await idle.send("GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n")
            #expect(await idle.all().hasSuffix("page a\n"))
        }
    }

    @Test
    func `requests of a connection are answered one after another, in order`() async throws {
        let gate = PageGate()
        try await self.run(slow: gate) { address in
            let peer = try await HTTPPeer.connect(address)
            func get(_ path: String) -> String { "GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n" }
            await peer.send(get("/slow") + get("/a") + get("/bad"))
            // Another connection is served meanwhile.
            try await self.expectServes(address)
            gate.open()
            let text = await peer.text { $0.contains("draining") }
            let bodies = ["slow\n", "page a\n", "draining\n"].map { text.firstRange(of: $0)?.lowerBound }
            #expect(bodies.allSatisfy { $0 != nil }, "\(text)")
            #expect(bodies.compactMap { $0 } == bodies.compactMap { $0 }.sorted())
            await peer.close()
        }
    }

    @Test
    func `a page that does not come in time costs its own connection only`() async throws {
        let gate = PageGate()
        try await self.run({ $0.responseTimeout = .seconds(3) }, slow: gate) { address in
            #expect(try await HTTPPeer.ask(address, "/slow").status == 0)
            try await self.expectServes(address)
            gate.open()
        }
    }

    @Test
    func `a connection too many is refused while each has a request, and that is not ill health`()
        async throws
    {
        let gate = PageGate()
        try await self.run({ $0.connectionsMax = 3 }, slow: gate) { address in
            var peers: [HTTPPeer] = []
            for _ in 0..<3 {
                let peer = try await HTTPPeer.connect(address)
                // The answer to the first request shows that the second one has been read.
                let requests = ["/a", "/slow"].map { "GET \($0) HTTP/1.1\r\nHost: localhost\r\n\r\n" }
                await peer.send(requests.joined())
                #expect(await peer.text { $0.contains("page a") }.contains("page a"))
                peers.append(peer)
            }
            #expect(try await HTTPPeer.ask(address, "/a").status == 429)
            gate.open()
            while try await HTTPPeer.ask(address, "/a").status != 200 {
                try await Task.sleep(for: .milliseconds(5))
            }
            for peer in peers { await peer.close() }
        }
    }

    @Test
    func `silent connections cost no other its answer`() async throws {
        try await self.run({ $0.connectionsMax = 3 }) { address in
            var silent: [HTTPPeer] = []
            for _ in 0..<5 { silent.append(try await HTTPPeer.connect(address)) }
            for _ in 0..<3 { try await self.expectServes(address) }
            #expect(await silent[0].all().isEmpty)
            for peer in silent { await peer.close() }
        }
    }

    @Test
    func `of connections that are accepted together, a silent one goes for another too`() async throws {
        let log = BlockingLog()
        try await self.run({ $0.connectionsMax = 3 }, log: log) { address in
            // The endpoint logs on its one thread, so it accepts none until the line is written.
            let foreign = try await HTTPPeer.connect(address)
            await foreign.send("GET /a HTTP/1.1\r\nHost: attacker.example\r\n\r\n")
            await log.entered()
            var peers: [HTTPPeer] = []
            for _ in 0..<5 { peers.append(try await HTTPPeer.connect(address)) }
            log.leave()
            #expect(await peers[0].all().isEmpty)
            for peer in peers.suffix(2) {
                await peer.send("GET /a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                #expect(await peer.all().hasSuffix("page a\n"))
            }
            for peer in peers + [foreign] { await peer.close() }
            try await self.expectServes(address)
        }
    }

    @Test
    func `a Unix socket is for its user and group, replaces one that was left, and is removed`() async throws
    {
        let folder = try TemporaryDirectory()
        let path = folder.path + "/m.sock"
        let address = EndpointAddress.unix(path: path)
        try await self.run(on: address) { bound in
            #expect(bound == address)
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == 0o660)
            // The name in the field is nobody's here.
            #expect(try await HTTPPeer.ask(address, "/a", host: nil).status == 200)
            await #expect(throws: EndpointFailure.refused(errno: EADDRINUSE)) {
                try await self.run(on: address) { _ in }
            }
            try await self.expectServes(address)
        }
        #expect(!FileManager.default.fileExists(atPath: path))

        // What a process leaves that was killed.
        let left = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        let isBound = try SocketAddress(unixDomainSocketPath: path).withSockAddr {
            bind(left, $0, socklen_t($1)) == 0
        }
        #expect(isBound)
        close(left)
        #expect(FileManager.default.fileExists(atPath: path))
        try await self.run(on: address) { try await self.expectServes($0) }

        try "mine".write(toFile: path, atomically: true, encoding: .utf8)
        await #expect(throws: EndpointFailure.notASocket) { try await self.run(on: address) { _ in } }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
        let long = EndpointAddress.unix(path: "/" + String(repeating: "x", count: 200))
        await #expect(throws: EndpointFailure.pathTooLong) { try await self.run(on: long) { _ in } }
    }
}

/// Holds a page back until a test lets it go.
private final class PageGate: Sendable {
    private let isOpen = Atomic(false)

    func open() { self.isOpen.store(true, ordering: .relaxed) }

    func pass() async {
        await until { self.isOpen.load(ordering: .relaxed) }
    }
}

/// Keeps the thread that writes the first line until a test lets it go.
private final class BlockingLog: LogHandler {
    private let isEntered = Atomic(false)
    private let mayLeave = DispatchSemaphore(value: 0)

    var logLevel: Logger.Level {
        get { .trace }
        set {}
    }
    var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }
    subscript(metadataKey key: String) -> Logger.MetadataValue? {
        get { nil }
        set {}
    }

    func log(event: LogEvent) {
        guard !self.isEntered.exchange(true, ordering: .relaxed) else { return }
        self.mayLeave.wait()
    }

    func entered() async {
        await until { self.isEntered.load(ordering: .relaxed) }
    }

    func leave() { self.mayLeave.signal() }
}
