import Crypto
import NIOCore
import RecordModel
import RecordServer
import RecordStore
import SQLiteEngine
import TestSupport
import Testing
import WireProtocol

/// Users and strangers who take as much as they can get, and somebody else beside them.
@Suite(.timeLimit(.minutes(10)))
struct GreedyHolderTests {
    private static let zone = ServerUnderTest.zone
    private static let other = "another token"
    /// Takes nothing of what it asks for.
    private static let shut = Windows(connectionBytes: 65_536, streamBytes: 65_536)
    private static let mebibyte = 1_024 * 1_024

    /// A server with a second user, who has a record.
    private static func run(
        configure: (inout ServerConfiguration) -> Void,
        _ body: (ServerUnderTest) async throws -> Void
    ) async throws {
        try await ServerUnderTest.run(configure: configure) { server in
            try server.store.directory.addUser(
                named: "other",
                userRecordName: "_ffffffffffffffffffffffffffffffff",
                tokenHash: Array(SHA256.hash(data: Array(Self.other.utf8))),
                toContainer: ServerUnderTest.container
            )
            let visit = try await server.signIn(token: Self.other)
            try await visit.send(.modifyZones(ModifyZones(scope: .private, saves: [Self.zone])), on: 1)
            _ = try await visit.answer(on: 1)
            await visit.close()
            await until { server.gauge(.connectionsOpen) == 0 }
            try await body(server)
        }
    }

    /// The other user saves and fetches; nothing of it is refused.
    private static func expectOtherIsServed(by server: ServerUnderTest, times: Int = 20) async throws {
        let peer = try await server.signIn(token: Self.other)
        for index in 0..<times {
            let stream = UInt32(4 * index + 1)
            let name = "\(UInt64.random(in: 0 ... .max))"
            try await peer.send(.save([name]), on: stream)
            let saved = try await peer.answer(on: stream)
            #expect(saved.end.failure == nil)
            guard case .recordSaved? = saved.items.first?.outcome else {
                Issue.record("not saved: \(saved)")
                return
            }
            try await peer.send(.fetch([name]), on: stream + 2)
            let fetched = try await peer.answer(on: stream + 2)
            #expect(fetched.end.failure == nil)
        }
        await peer.close()
    }

    // MARK: - Answers

    @Test func `a user whose connections take no answers is refused, and nobody else is`() async throws {
        let total = 16 * Self.mebibyte
        try await Self.run(configure: { $0.memory.responsesHeldTotalBytesMax = total }) { server in
            try await server.fill(records: 1, bytes: 900_000)
            var greedy: [TestPeer] = []
            for _ in 0..<12 {
                let peer = try await server.signIn(windows: Self.shut)
                try await peer.send((0..<20).map { .request(.fetch(["0", "0"]), on: UInt32(2 * $0 + 1)) })
                greedy.append(peer)
                try await Self.expectOtherIsServed(by: server, times: 1)
            }
            try await Self.expectOtherIsServed(by: server)
            // Half of all, and what the last answer had more than was set aside for it.
            #expect(server.server.heldBytesMost <= total / 2 + 4 * Self.mebibyte)
            #expect(server.gauge(.responsesHeldLargestBytes) > 1_000_000)
            // The first ones have their windows' worth, the last ones a refusal.
            let refused = try #require(greedy.last)
            let failure = try await refused.answer(on: 1).end.failure
            #expect(failure?.code == .requestRateLimited)
            for peer in greedy { await peer.close() }
            await until { server.gauge(.responsesHeldBytes) == 0 }
            try await HandshakeTests.expectService(of: server)
        }
    }

    @Test func `lists of zones that nobody takes are held within the bound`() async throws {
        let total = 8 * Self.mebibyte
        try await Self.run(configure: { $0.memory.responsesHeldTotalBytesMax = total }) { server in
            let maker = try await server.signIn()
            let name = String(repeating: "z", count: 240)
            let zones = (0..<400).map { ZoneID(zoneName: "\(name)\($0)") }
            try await maker.send(.modifyZones(ModifyZones(scope: .private, saves: zones)), on: 1)
            #expect(try await maker.answer(on: 1).end.failure == nil)
            await maker.close()
            var greedy: [TestPeer] = []
            for _ in 0..<4 {
                let peer = try await server.signIn(windows: Self.shut)
                let all = Operation.fetchZones(.init(scope: .private, selection: .all))
                try await peer.send((0..<120).map { .request(all, on: UInt32(2 * $0 + 1)) })
                greedy.append(peer)
            }
            try await Self.expectOtherIsServed(by: server)
            #expect(server.server.heldBytesMost <= total)
            for peer in greedy { await peer.close() }
        }
    }

    @Test func `the connections of the largest holder end first when room gets short`() async throws {
        let total = 8 * Self.mebibyte
        try await Self.run(configure: { $0.memory.responsesHeldTotalBytesMax = total }) { server in
            // One answer is more than the room that is set aside for it, and than half of all.
            try await server.fill(records: 8, bytes: 950_000)
            let greedy = try await server.signIn(windows: Self.shut)
            try await greedy.send(.fetch((0..<8).map { "\($0)" }), on: 1)
            try await HandshakeTests.expectGoaway(.slowReader, from: greedy)
            #expect(server.log.complaints.contains { $0.metadata["detail"] == "room for others" })
            try await Self.expectOtherIsServed(by: server)
        }
    }

    // MARK: - Connections

    @Test func `a user has half of the connections, and others get in`() async throws {
        try await Self.run(configure: { $0.listen.connectionsMax = 8 }) { server in
            var greedy: [TestPeer] = []
            for _ in 0..<4 { greedy.append(try await server.signIn()) }
            let refused = try await server.connect()
            try await refused.send(.hello(token: ServerUnderTest.token))
            let goaway = try await HandshakeTests.expectGoaway(.overloaded, from: refused)
            #expect(goaway.retryAfterMilliseconds > 0)
            try await Self.expectOtherIsServed(by: server, times: 1)
            for peer in greedy { await peer.close() }
        }
    }

    @Test func `whoever finds no room for a connection is told so over TLS`() async throws {
        try await Self.run(configure: { $0.listen.connectionsMax = 2 }) { server in
            let first = try await server.signIn()
            let second = try await server.signIn(token: Self.other)
            for _ in 0..<3 {
                let refused = try await server.connect()
                // The server says it unasked, and may have gone before this is sent.
                try? await refused.send(.hello(token: ServerUnderTest.token))
                try await HandshakeTests.expectGoaway(.overloaded, from: refused)
            }
            await second.close()
            await until { server.gauge(.connectionsOpen) <= 1 }
            try await Self.expectOtherIsServed(by: server, times: 1)
            await first.close()
        }
    }

    // MARK: - Control frames

    @Test(arguments: [FrameKind.pong, FrameKind(rawValue: 128), FrameKind(rawValue: 255)])
    func `frames that mean nothing are in the budget of control frames`(kind: FrameKind) async throws {
        try await ServerUnderTest.run { server in
            let peer = try await server.signIn()
            let frame = Frame(kind: kind, payload: Ping(value: 1).encoded())
            // As many as three seconds allow, in one.
            try? await peer.send(Array(repeating: frame, count: 3_000))
            try await HandshakeTests.expectGoaway(.tooManyControlFrames, from: peer)
            try await HandshakeTests.expectService(of: server)
        }
    }

    @Test(arguments: [FrameKind.ping, .pong, FrameKind(rawValue: 128)])
    func `a connection that begins with another frame than a hello ends`(kind: FrameKind) async throws {
        try await ServerUnderTest.run { server in
            try await HandshakeTests.expectRefusal(
                Frame(kind: kind, payload: Ping(value: 1).encoded()),
                .requestBeforeHello,
                by: server
            )
        }
    }
}

extension ServerUnderTest {
    /// What a metric without labels says now.
    func gauge(_ name: MetricName) -> Double {
        for metric in self.server.metrics where metric.name == name {
            if case .number(let value)? = metric.samples.first?.value { return value }
        }
        return 0
    }
}
