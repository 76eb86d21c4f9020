import NIOCore
import RecordModel
import Testing
import WireProtocol

@testable import RecordServer

@Suite(.timeLimit(.minutes(10)))
struct HandshakeTests {
    @Test func `a user is welcomed with every limit in force`() async throws {
        let configure: (inout ServerConfiguration) -> Void = { configuration in
            configuration.timeouts = .defaults
            configuration.assets.timeout = ServerConfiguration.Assets.defaults.timeout
        }
        try await ServerUnderTest.run(configure: configure) { server in
            let peer = try await server.connect()
            try await peer.send(.hello(token: ServerUnderTest.token))
            let frame = try #require(await peer.next())
            #expect(frame.kind == .welcome)
            let welcome = try Welcome(decoding: frame.payload)
            #expect(welcome.version == 1)
            #expect(welcome.userRecordName == ServerUnderTest.userRecordName)
            #expect(welcome.serverTimeMilliseconds == ServerUnderTest.startMilliseconds)
            #expect(welcome.limits == Limits.defaults)
            // The second one means nothing: no frame of a client counts against it.
            #expect(welcome.windows == Windows(connectionBytes: 4_194_304, streamBytes: 4_194_304))
        }
    }

    @Test func `who has no token is welcomed without a name`() async throws {
        try await ServerUnderTest.run { server in
            let peer = try await server.connect()
            try await peer.send(.hello(token: ""))
            let frame = try #require(await peer.next())
            #expect(try Welcome(decoding: frame.payload).userRecordName == "")
        }
    }

    @Test func `a wrong token is refused, once in the log and never with the token`() async throws {
        try await ServerUnderTest.run { server in
            try await Self.expectRefusal(.hello(token: "secret"), .notAuthenticated, by: server)
            #expect(!server.log.lines.contains { "\($0)".contains("secret") })
        }
    }

    @Test(arguments: ["iCloud.other", "", "iCloud.ö", "no container\n"])
    func `a container that does not exist is refused`(container: String) async throws {
        try await ServerUnderTest.run { server in
            let hello = Frame.hello(container: container, token: ServerUnderTest.token)
            try await Self.expectRefusal(hello, .containerUnknown, by: server)
            #expect(!server.log.lines.contains { "\($0)".contains("no container\n") })
        }
    }

    @Test func `versions without one in common are refused with those that are spoken`() async throws {
        try await ServerUnderTest.run { server in
            let hello = Frame.hello(versions: [2, 3], token: ServerUnderTest.token)
            let goaway = try await Self.expectRefusal(hello, .versionUnsupported, by: server)
            #expect(goaway.versions == [1])
        }
    }

    @Test func `a request before the hello is refused`() async throws {
        try await ServerUnderTest.run { server in
            try await Self.expectRefusal(.request(.fetch(["0"]), on: 1), .requestBeforeHello, by: server)
        }
    }

    @Test func `a second hello ends the connection`() async throws {
        try await ServerUnderTest.run { server in
            let peer = try await server.signIn()
            try await peer.send(.hello(token: ServerUnderTest.token))
            try await Self.expectGoaway(.secondHello, from: peer)
        }
    }

    @Test func `a hello beyond 4,096 bytes is refused before it has come`() async throws {
        try await ServerUnderTest.run { server in
            let peer = try await server.connect()
            try await peer.send(ByteBuffer(integer: UInt32(4_097), extra: [1, 0, 0, 0, 0, 0]))
            try await Self.expectGoaway(.frameTooLarge, from: peer)
        }
    }

    @Test func `a client that says nothing is closed`() async throws {
        try await ServerUnderTest.run(configure: { $0.timeouts.handshake = .milliseconds(300) }) { server in
            let peer = try await server.connect()
            // Nothing but a `goaway`, if TLS was up by then.
            #expect(await peer.rest().allSatisfy { $0.kind == .goaway })
            #expect(
                server.log.complaints.map { $0.metadata["reason"] } == [CloseReason.handshakeTimeout.text]
            )
        }
    }

    @Test(arguments: [[], ["h2"]] as [[String]])
    func `a TLS client without the protocol's name is closed with one line`(names: [String]) async throws {
        try await ServerUnderTest.run { server in
            let peer = try await server.connect(applicationProtocols: names)
            #expect(await peer.rest() == [])
            #expect(server.log.complaints.map(\.message) == ["TLS client without the application protocol"])
            try await Self.expectService(of: server)
        }
    }

    @Test func `bytes that are not TLS are closed with one line`() async throws {
        try await ServerUnderTest.run { server in
            let peer = try await TestPeer.connectPlain(port: server.port)
            try await peer.send(ByteBuffer(repeating: 0x47, count: 1_000))
            #expect(await peer.rest() == [])
            #expect(server.log.complaints.map(\.message) == ["TLS handshake failed"])
            try await Self.expectService(of: server)
        }
    }

    @Test(
        arguments: [
            ("GET / HTTP/1.1\r\nHost: x\r\n\r\n", "the client speaks HTTP, not TLS"),
            ("SSH-2.0-OpenSSH_9.2p1 Debian\r\n", "the client speaks no TLS"),
        ]
    )
    func `a failed TLS handshake says what the client did, and names it by address and port`(
        bytes: String,
        reason: String
    ) async throws {
        try await ServerUnderTest.run { server in
            let peer = try await TestPeer.connectPlain(port: server.port)
            try await peer.send(ByteBuffer(string: bytes))
            #expect(await peer.rest() == [])
            let line = try #require(server.log.complaints.first)
            #expect(line.metadata["error"] == reason)
            #expect(line.metadata["peer"]?.wholeMatch(of: /127\.0\.0\.1:\d+/) != nil)
        }
    }

    @Test(
        arguments: [
            (
                "Error: 268435703 error:100000f7:SSL routines:OPENSSL_internal:WRONG_VERSION_NUMBER at /b/tls_record.cc:216",
                "the client speaks no TLS"
            ),
            (
                "Error: 268436501 error:10000415:SSL routines:OPENSSL_internal:DECODE_ERROR at /b/x y.cc:1",
                "decode error"
            ),
            ("Error:  EOF during handshake", "the client ended the connection in the TLS handshake"),
            ("", ""),
        ]
    )
    func `an error of the TLS library is told without paths and numbers`(error: String, text: String) {
        #expect(ConnectionFailureText.reason(in: error) == text)
    }

    @discardableResult
    static func expectRefusal(
        _ frame: Frame,
        _ reason: CloseReason,
        by server: ServerUnderTest
    ) async throws -> GoAway {
        let peer = try await server.connect()
        try await peer.send(frame)
        let goaway = try await Self.expectGoaway(reason, from: peer)
        #expect(server.log.complaints.count == 1)
        try await Self.expectService(of: server)
        return goaway
    }

    /// The peer is told why, and the connection ends.
    @discardableResult
    static func expectGoaway(_ reason: CloseReason, from peer: TestPeer) async throws -> GoAway {
        let frame = try #require(await peer.rest().last)
        #expect(frame.kind == .goaway)
        let goaway = try GoAway(decoding: frame.payload)
        #expect(goaway.reason == reason)
        return goaway
    }

    /// The server goes on after what a peer did.
    static func expectService(of server: ServerUnderTest) async throws {
        let peer = try await server.signIn()
        try await peer.send(.fetchZones(.init(scope: .private, selection: .all)), on: 1)
        let answer = try await peer.answer(on: 1)
        #expect(answer.end.failure == nil)
        #expect(answer.items.count >= 1)
        await peer.close()
    }
}

extension ByteBuffer {
    /// A header, or the start of one.
    init(integer: UInt32, extra: [UInt8]) {
        self.init(integer: integer)
        self.writeBytes(extra)
    }
}
