import NIOCore
import RecordModel
import RecordServer
import TestSupport
import Testing
import WireProtocol

/// Frames that begin and do not end.
@Suite(.timeLimit(.minutes(10)))
struct UnfinishedFrameTests {
    /// A header, and less of its payload than it announces.
    private static func beginning(payloadBytes: Int, sent: Int) -> ByteBuffer {
        var bytes = ByteBuffer(integer: UInt32(payloadBytes))
        bytes.writeInteger(FrameKind.request.rawValue)
        bytes.writeInteger(UInt8(0))
        bytes.writeInteger(UInt32(1))
        bytes.writeRepeatingByte(0, count: sent)
        return bytes
    }

    private static func stranger(of server: ServerUnderTest) async throws -> (TestPeer, Welcome) {
        let peer = try await server.connect()
        try await peer.send(.hello(token: ""))
        let frame = try #require(await peer.next())
        return (peer, try Welcome(decoding: frame.payload))
    }

    @Test func `strangers are told of a smaller request, and larger frames end at their header`() async throws
    {
        try await ServerUnderTest.run { server in
            let (peer, welcome) = try await Self.stranger(of: server)
            #expect(welcome.limits.requestBytesMax == 320 * 1_024)
            #expect(welcome.limits.frameBytesMax == 3 * 1_024 * 1_024, "answers are as large as anybody's")
            let largest = 324 * 1_024
            try await peer.send(.check(bytes: 321 * 1_024), on: 1)
            #expect(try await peer.answer(on: 1).end.failure?.code == .limitExceeded)
            try await peer.send(Self.beginning(payloadBytes: largest + 1, sent: 0))
            try await HandshakeTests.expectGoaway(.frameTooLarge, from: peer)

            let user = try await server.signIn()
            try await user.send(.check(bytes: 900_000), on: 1)
            #expect(try await user.answer(on: 1).end.failure?.code != .limitExceeded)
        }
    }

    @Test func `what strangers leave unfinished has a bound, and a user's large request gets through`()
        async throws
    {
        let total = 8 * 1_024 * 1_024
        try await ServerUnderTest.run(configure: { $0.memory.unfinishedBytesMax = total }) { server in
            var strangers: [TestPeer] = []
            for _ in 0..<40 {
                let (peer, _) = try await Self.stranger(of: server)
                try await peer.send(Self.beginning(payloadBytes: 300_000, sent: 299_800))
                strangers.append(peer)
            }
            await until { server.refusals(detail: "unfinished frames") >= 20 }
            let held = server.gauge(.unfinishedFrameBytes)
            #expect(held > 0 && held <= Double(total / 2))
            try await server.fill(records: 1, bytes: 1_000_000)
            // Those that had room still have it, and the last had none.
            let last = strangers.removeLast()
            try await HandshakeTests.expectGoaway(.overloaded, from: last)
            for peer in strangers { await peer.close() }
            await until { server.gauge(.unfinishedFrameBytes) == 0 }
        }
    }

    @Test func `a frame that has begun has a time, whatever drips`() async throws {
        try await ServerUnderTest.run(configure: { $0.timeouts.frame = .milliseconds(100) }) { server in
            let (peer, _) = try await Self.stranger(of: server)
            try await peer.send(Self.beginning(payloadBytes: 300_000, sent: 100))
            while server.log.complaints.isEmpty {
                try? await peer.send(ByteBuffer(integer: UInt8(0)))
            }
            try await HandshakeTests.expectGoaway(.frameTimeout, from: peer)
            try await HandshakeTests.expectService(of: server)
        }
    }
}

extension Operation {
    /// A schema of so many bytes that says nothing.
    static func check(bytes: Int) -> Operation {
        .checkSchema(CheckSchema(schema: "DEFINE SCHEMA\n" + String(repeating: "\n", count: bytes - 14)))
    }
}

extension ServerUnderTest {
    /// Connections that ended with this in the log.
    func refusals(detail: String) -> Int {
        self.log.lines.count { $0.metadata["detail"] == detail }
    }
}
